package rules

import (
	"go/ast"
	"slices"
)

// writers are the files beside internal/enact by which the controller creates or deletes objects, and why each may.
func writers() map[string]string {
	return map[string]string{
		"internal/controller/terminate/claim.go": "deletes the nodes of a claim that is being deleted",
	}
}

// Writers finds controllers, and what they are made of, that create, delete or evict by a client: a claim that is
// written elsewhere is not in the books of internal/enact, and a machine may be bought twice, or lost.
func (t *Tree) Writers() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		if !below(p.Dir, "internal/controller") && !below(p.Dir, "internal/cluster") && !below(p.Dir, "internal/loop") && !below(p.Dir, "internal/app") {
			continue
		}
		for _, f := range p.Files {
			if f.Test || writers()[f.Path] != "" {
				continue
			}
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && writes(call) {
					faults = append(faults, Fault{f.Path, t.fset.Position(call.Pos()).Line, "creates or deletes by a client: only internal/enact does; have it do so or, if it is neither a claim nor a pod, say why in internal/rules, writers.go"})
				}
				return true
			})
		}
	}
	return faults
}

// writes reports whether a call creates or deletes by a client, whole objects or subresources, such as evictions.
func writes(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Create", "Delete", "DeleteAllOf"}, fn.Sel.Name) {
		return false
	}
	switch by := fn.X.(type) {
	case *ast.SelectorExpr:
		return by.Sel.Name == "Client"
	case *ast.CallExpr:
		of, ok := by.Fun.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "SubResource"
	}
	return false
}
