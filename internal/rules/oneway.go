package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// oneWay are the packages of which no file names, even through others, what a
// file that it is named by declares: they can be read from the ground up.
func oneWay() []string { return list("engine/... internal/aws/...") }

// round are those in which files do: scenes, and worlds that are drawn, are made by methods of one type, each part in a file.
func round() []string { return list("engine/enginetest engine/enginetest/families") }

// loadTyped loads packages with their types.
func loadTyped(root string, patterns ...string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
		Dir:  root,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", dirOf(p), p.Errors[0])
		}
	}
	return pkgs, nil
}

func dirOf(p *packages.Package) string { return strings.TrimPrefix(p.PkgPath, Module+"/") }

// Rooms finds files of the engine and of the driver that name each other in a circle, and what
// changes a packing beside the verbs of engine/packing.
func Rooms(root string) ([]Fault, error) {
	pkgs, err := loadTyped(root, "./engine/...", "./internal/aws/...")
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, p := range pkgs {
		if matches(dirOf(p), oneWay()) && !matches(dirOf(p), round()) {
			faults = append(faults, circles(p)...)
		}
		if p.Imports[Module+"/engine/packing"] != nil && dirOf(p) != binder {
			faults = append(faults, pastVerbs(p)...)
		}
	}
	return faults, nil
}

// circles finds arrows between files of a package that lead back to where they begin.
func circles(p *packages.Package) []Fault {
	arrows := map[string]map[string]*ast.Ident{} // from file to file, and one name that is used
	for _, f := range p.Syntax {
		from := path.Base(p.Fset.Position(f.Pos()).Filename)
		arrows[from] = map[string]*ast.Ident{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if o == nil || o.Pkg() != p.Types || !declared(o) {
				return true
			}
			if to := path.Base(p.Fset.Position(o.Pos()).Filename); to != from && arrows[from][to] == nil {
				arrows[from][to] = id
			}
			return true
		})
	}
	var faults []Fault
	for _, from := range sortedFiles(arrows) {
		for _, to := range sortedFiles(arrows[from]) {
			if reaches(arrows, to, from) {
				id := arrows[from][to]
				faults = append(faults, Fault{
					path.Join(dirOf(p), from), p.Fset.Position(id.Pos()).Line,
					fmt.Sprintf("%s is declared in %s, which depends on this file: have what both need in a file below them", id.Name, to),
				})
			}
		}
	}
	return faults
}

// declared reports whether an object is a function, a method, or stands at the head of a package.
func declared(o types.Object) bool {
	if _, ok := o.(*types.Func); ok {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// reaches reports whether arrows lead from one file to another.
func reaches[V any](arrows map[string]map[string]V, from, to string) bool {
	seen := map[string]bool{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for next := range arrows[queue[0]] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

func sortedFiles[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// verbsOf are the methods of spread.Ledger by which pods and machines come and go.
func verbsOf() []string { return list("Put Take Enter Leave Return Run Stop Vacate Occupy Inhabit") }

// binder takes pods out of the ledger and puts them in again in another order, so that in the end it counts as before.
const binder = "engine/bind"

// heldBy are the fields of packing.Bin that the verbs keep true together.
func heldBy() []string { return list("Pods Used Allowed Pinned Offer Node Number") }

// pastVerbs finds where a package changes a packing by itself.
func pastVerbs(p *packages.Package) []Fault {
	var faults []Fault
	fault := func(at ast.Node, what string) {
		where := p.Fset.Position(at.Pos())
		faults = append(faults, Fault{path.Join(dirOf(p), path.Base(where.Filename)), where.Line, what + ": a packing is changed by the verbs of engine/packing alone"})
	}
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(verbsOf(), sel.Sel.Name) && isOf(p, sel.X, "engine/spread", "Ledger") {
					fault(n, "Ledger."+sel.Sel.Name)
				}
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					return true
				}
				for _, x := range n.Lhs {
					if sel, ok := x.(*ast.SelectorExpr); ok && slices.Contains(heldBy(), sel.Sel.Name) && isOf(p, sel.X, "engine/packing", "Bin") {
						fault(n, "Bin."+sel.Sel.Name+" is assigned")
					}
				}
			}
			return true
		})
	}
	return faults
}

// isOf reports whether an expression is of the type, or a pointer to it.
func isOf(p *packages.Package, x ast.Expr, dir, name string) bool {
	t := p.TypesInfo.TypeOf(x)
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == Module+"/"+dir
}
