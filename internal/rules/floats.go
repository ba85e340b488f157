package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"

	"golang.org/x/tools/go/packages"
)

// guided are the files and folders of the engine that compare floats, or make integers of them, and why nothing is
// decided by that: what may be done, what is proven and what is enough is counted in integers.
func guided() map[string]string {
	return map[string]string{
		"engine/solve":                         "when a start is good enough to try no other, by what the relaxation costs",
		"engine/solve/relax":                   "dual prices are floats; they say where the search goes and decide nothing",
		"engine/solve/fill":                    "which host is next, and which item on it, is chosen by prices; what fits is counted",
		"engine/solve/improve":                 "which hosts are emptied is drawn by what they waste; what is kept is counted",
		"engine/solve/firstfit":                "which host takes most of what is left for the least part of the budgets",
		"engine/solve/pattern":                 "the linear program of patterns is in floats, its worths are proven in integers",
		"engine/solve/integer":                 "branches are chosen by floats, what each costs is proven in integers",
		"engine/solve/proof":                   "integer prices are made of dual prices such that no host holds more than it costs",
		"engine/whatif/mix.go":                 "how much of what is usually asked for a machine holds; which takes a pod is chosen by it",
		"engine/whatif/order.go":               "which of several machines takes a pod; that it may is asked of the packing",
		"engine/disrupt/consolidate/room.go":   "which machines are tried first",
		"engine/disrupt/consolidate/search.go": "which machines are tried first",
		"engine/money/money.go":                "amounts are read from numbers with a point, and rounded",
		"engine/plan/plan.go":                  "shares, written for people",
		"engine/explain":                       "prices and shares, written for people",
	}
}

// Floats finds where the engine compares floats or makes integers of them, so that something could be decided by how
// they were rounded.
func Floats(root string) ([]Fault, error) {
	pkgs, err := loadTyped(root, "./engine/...")
	if err != nil {
		return nil, err
	}
	var faults []Fault
	needed := map[string]bool{} // of what is on the list and was read, whether it has to be there
	for _, p := range pkgs {
		dir := dirOf(p)
		if below(dir, "engine/enginetest") {
			continue
		}
		for _, f := range p.Syntax {
			file := path.Join(dir, path.Base(p.Fset.Position(f.Pos()).Filename))
			found := weighed(p, file, f)
			listed := file
			if guided()[dir] != "" {
				listed = dir
			}
			if guided()[listed] == "" {
				faults = append(faults, found...)
				continue
			}
			needed[listed] = needed[listed] || len(found) > 0
		}
	}
	for _, listed := range slices.Sorted(maps.Keys(needed)) {
		if !needed[listed] {
			faults = append(faults, Fault{listed, 0, "compares no floats: take it off the list in internal/rules/floats.go"})
		}
	}
	return faults, nil
}

// weighed finds the comparisons and conversions of one file.
func weighed(p *packages.Package, file string, f *ast.File) (faults []Fault) {
	ast.Inspect(f, func(n ast.Node) bool {
		if what := weighs(n, p.TypesInfo); what != "" {
			faults = append(faults, Fault{file, p.Fset.Position(n.Pos()).Line, fmt.Sprintf("%s: floats decide nothing in the engine; use integers, or say in internal/rules/floats.go why nothing is decided here", what)})
		}
		return true
	})
	return faults
}

// weighs says what n does with floats, by which something could be decided; empty if nothing.
func weighs(n ast.Node, info *types.Info) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
			if isFloat(n.X, info) || isFloat(n.Y, info) {
				return "compares floats"
			}
		}
	case *ast.CallExpr:
		if !slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return isFloat(x, info) }) {
			return ""
		}
		if info.Types[n.Fun].IsType() {
			if !isFloat(n, info) {
				return "makes an integer of a float"
			}
			return ""
		}
		switch fn := ast.Unparen(n.Fun).(type) {
		case *ast.Ident:
			if _, builtin := info.Uses[fn].(*types.Builtin); builtin && (fn.Name == "min" || fn.Name == "max") {
				return "compares floats"
			}
		case *ast.SelectorExpr:
			if o := info.Uses[fn.Sel]; o != nil && o.Pkg() != nil && o.Pkg().Path() == "cmp" {
				return "compares floats"
			}
		}
	}
	return ""
}

// isFloat reports whether x is a float that is not known before the program runs.
func isFloat(x ast.Expr, info *types.Info) bool {
	v := info.Types[x]
	if v.Value != nil || v.Type == nil {
		return false
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}
