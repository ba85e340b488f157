package rules

import (
	"go/ast"
)

// Leaks finds packages that start goroutines and have tests, of which none would fail if one were left behind.
func (t *Tree) Leaks() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		starts, watched, tested := "", false, false
		for _, f := range p.Files {
			tested = tested || f.Test
			watched = watched || f.Test && f.imports("go.uber.org/goleak", Module+"/internal/kubetest")
			if starts == "" && !f.Test && startsGoroutine(f.Syntax) {
				starts = f.Path
			}
		}
		if starts != "" && tested && !watched {
			faults = append(faults, Fault{starts, 0, "starts goroutines: a leak_test.go beside it, with goleak.VerifyTestMain, fails where a test leaves one behind"})
		}
	}
	return faults
}

func startsGoroutine(f *ast.File) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && fn.Sel.Name == "Go" && len(n.Args) == 1
		}
		return !found
	})
	return found
}
