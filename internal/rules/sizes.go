package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// What a reader can keep in view. Tests and tables may be longer.
const (
	maxFunctionLines = 60
	maxArguments     = 5 // beside a context
	maxFileLines     = 600
	maxPackageFiles  = 15 // in the engine
	maxMethods       = 40 // of a type of the engine
)

// Sizes finds functions that are longer, or take more arguments, than one takes in at a time, and files too long for one idea.
func (t *Tree) Sizes() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if f.Test || ast.IsGenerated(f.Syntax) {
				continue
			}
			if n := t.lines(f.Syntax.FileStart, f.Syntax.FileEnd); n > maxFileLines {
				faults = append(faults, Fault{f.Path, 0, fmt.Sprintf("%d lines, of at most %d: one idea a file", n, maxFileLines)})
			}
			for _, d := range f.Syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				line := t.fset.Position(fn.Pos()).Line
				if n := t.lines(fn.Pos(), fn.End()); n > maxFunctionLines && !isTable(fn) {
					faults = append(faults, Fault{f.Path, line, fmt.Sprintf("%s has %d lines, of at most %d: let it read as the list of its steps", fn.Name.Name, n, maxFunctionLines)})
				}
				if n := arguments(fn); n > maxArguments {
					faults = append(faults, Fault{f.Path, line, fmt.Sprintf("%s takes %d arguments, of at most %d beside a context: give those that belong together names in a struct", fn.Name.Name, n, maxArguments)})
				}
			}
		}
	}
	return faults
}

func (t *Tree) lines(from, to token.Pos) int {
	return t.fset.Position(to).Line - t.fset.Position(from).Line + 1
}

// isTable reports whether a function does no more than return a value that is written out.
func isTable(fn *ast.FuncDecl) bool {
	for i, s := range fn.Body.List {
		switch s := s.(type) {
		case *ast.AssignStmt, *ast.DeclStmt: // what its rows have in common
		case *ast.ReturnStmt:
			if len(s.Results) != 1 || i < len(fn.Body.List)-1 {
				return false
			}
			_, written := s.Results[0].(*ast.CompositeLit)
			return written
		default:
			return false
		}
	}
	return false
}

// arguments counts what a function takes, but for a context.
func arguments(fn *ast.FuncDecl) int {
	n := fn.Type.Params.NumFields()
	if n == 0 {
		return 0
	}
	if first, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr); ok && first.Sel.Name == "Context" {
		n--
	}
	return n
}

// Crowds finds packages of the engine with more files, and types there with more methods, than a newcomer takes in.
func (t *Tree) Crowds() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		if !below(p.Dir, "engine") {
			continue
		}
		files, methods := 0, map[string]int{}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			files++
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					methods[receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
		if files > maxPackageFiles {
			faults = append(faults, Fault{p.Dir, 0, fmt.Sprintf("%d files, of at most %d: what is a thing of its own is a package", files, maxPackageFiles)})
		}
		for _, name := range slices.Sorted(maps.Keys(methods)) {
			if n := methods[name]; n > maxMethods {
				faults = append(faults, Fault{p.Dir, 0, fmt.Sprintf("%s has %d methods, of at most %d: what is a thing of its own is a type", name, n, maxMethods)})
			}
		}
	}
	return faults
}

// receiver names the type of a method.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
