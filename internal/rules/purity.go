package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Impure loads the engine and finds what keeps the same World from giving the
// same Plan: reading anything but the World, and state that outlives a call.
// engine/enginetest is for tests and is free.
func Impure(root string) ([]Fault, error) {
	pkgs, err := loadTyped(root, "./engine/...")
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, p := range pkgs {
		dir := dirOf(p)
		if below(dir, "engine/enginetest") {
			continue
		}
		for _, f := range p.Syntax {
			file := path.Join(dir, path.Base(p.Fset.Position(f.Pos()).Filename))
			faults = append(faults, purity(p.Fset, file, f, p.TypesInfo)...)
		}
	}
	return faults, nil
}

// unwanted are packages of the standard library by which the engine would read
// or keep what is not in its World.
func unwanted() map[string]string {
	return map[string]string{
		"context":     "a decision is bounded by counted steps, not cancelled",
		"crypto/rand": "chance makes the same World give two Plans",
		"log":         "callers log what the Plan says",
		"math/rand":   "chance makes the same World give two Plans",
		"net":         "the engine does no I/O",
		"os":          "the engine does no I/O",
		"runtime":     "the machine must not show in a Plan",
		"sync":        "a decision is one goroutine on immutable values",
		"syscall":     "the engine does no I/O",
		"testing":     "tests are for _test.go and engine/enginetest",
		"unsafe":      "a decision is not worth it",
	}
}

// clocks are the names of package time that read or await the time.
func clocks() []string {
	return list("After AfterFunc Local NewTicker NewTimer Now Since Sleep Tick Until LoadLocation")
}

// exact are the functions of package math that give the same bits everywhere.
func exact() []string {
	return list("Sqrt Abs Floor IsNaN IsInf Inf NaN Signbit Float64bits Float64frombits")
}

// purity finds what one file of the engine may not do.
func purity(fset *token.FileSet, name string, f *ast.File, info *types.Info) []Fault {
	var faults []Fault
	fault := func(at ast.Node, format string, args ...any) {
		faults = append(faults, Fault{name, fset.Position(at.Pos()).Line, fmt.Sprintf(format, args...)})
	}
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		for bad, why := range unwanted() {
			if below(p, bad) {
				fault(spec, "the engine may not import %s: %s", p, why)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			fault(n, "the engine starts no goroutine: a caller runs halves of a portfolio side by side")
		case *ast.ChanType:
			fault(n, "the engine has no channel: it calls and returns")
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				fault(n, "the engine has no init: the same World gives the same Plan whatever was imported")
			}
		case *ast.SelectorExpr:
			if why := libraryCall(n, info); why != "" {
				fault(n, "%s", why)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.ADD || n.Op == token.SUB) && (fuses(n.X, info) || fuses(n.Y, info)) {
				fault(n, "%s", fused)
			}
		case *ast.AssignStmt:
			if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && fuses(n.Rhs[0], info) {
				fault(n, "%s", fused)
			}
		}
		for _, target := range written(n, info) {
			if v := packageVar(target, info); v != "" {
				fault(n, "%s is a variable of the package and is changed here: state lives in values", v)
			}
		}
		return true
	})
	return faults
}

// libraryCall says what is wrong with a use of package time or math.
func libraryCall(sel *ast.SelectorExpr, info *types.Info) string {
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	pkg, ok := info.Uses[x].(*types.PkgName)
	if !ok {
		return ""
	}
	switch pkg.Imported().Path() {
	case "time":
		if slices.Contains(clocks(), sel.Sel.Name) {
			return "time." + sel.Sel.Name + " reads the clock of the machine: the time is World.At"
		}
	case "math":
		if _, isFunc := info.Uses[sel.Sel].(*types.Func); isFunc && !slices.Contains(exact(), sel.Sel.Name) {
			return "math." + sel.Sel.Name + " may differ in the last bit between architectures: use " + strings.Join(exact()[:3], ", ") + " or integers"
		}
	}
	return ""
}

const fused = "x*y+z of floats is one operation on some architectures and two on others: write float64(x*y) + z"

// fuses reports whether x is a product of floats that an addition could swallow.
func fuses(x ast.Expr, info *types.Info) bool {
	product, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok || product.Op != token.MUL {
		return false
	}
	v := info.Types[product]
	if v.Value != nil || v.Type == nil {
		return false // a constant is computed exactly
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}

// written returns what n changes or hands out to be changed.
func written(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		fn, ok := n.Fun.(*ast.Ident)
		if !ok {
			return nil
		}
		if _, builtin := info.Uses[fn].(*types.Builtin); builtin && slices.Contains(list("delete clear copy"), fn.Name) {
			return n.Args[:1]
		}
	}
	return nil
}

// packageVar returns the name of the package's variable that x is part of.
func packageVar(x ast.Expr, info *types.Info) string {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.Ident:
			v, ok := info.Uses[e].(*types.Var)
			if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v.Name()
			}
			return ""
		default:
			return ""
		}
	}
}
