package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// A constant is a string constant of a package, with what its source says of it.
type constant struct {
	Name, Value, Comment string
}

// source is what is read from the code of some folders.
type source struct {
	constants map[string][]constant // by folder
	used      map[string]bool       // names selected from other packages: metric.NodesCreated
	passed    map[string]bool       // those of them that are an argument of a call that is no question, or a key of a map
	events    map[string]bool       // reasons of events, where a call has them written out
	strings   map[string]bool       // all strings but those of the API, which only names them
}

// scan reads the Go files below folders of the tree; tests are left out.
func scan(root string, folders ...string) (*source, error) {
	s := &source{constants: map[string][]constant{}, used: map[string]bool{}, passed: map[string]bool{}, events: map[string]bool{}, strings: map[string]bool{}}
	files := token.NewFileSet()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			s.file(filepath.ToSlash(dir), f)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the code of %s: %w", folder, err)
		}
	}
	return s, nil
}

func (s *source) file(dir string, f *ast.File) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			s.declared(dir, g)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if from, ok := n.X.(*ast.Ident); ok {
				s.used[from.Name+"."+n.Sel.Name] = true
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results { // the API says itself what is wrong with some fields
				if name, ok := r.(*ast.Ident); ok && dir == "api/aws/v1" {
					s.used["awsv1."+name.Name] = true
				}
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok && !strings.HasPrefix(dir, "api/") {
				s.strings[text] = true
			}
		case *ast.KeyValueExpr:
			s.pass(n.Key)
		case *ast.CallExpr:
			s.call(n)
		}
		return true
	})
}

// declared notes string constants, those made of literals and constants noted before.
func (s *source) declared(dir string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			continue
		}
		if text, ok := s.text(dir, v.Values[0]); ok {
			comment := strings.TrimSpace(v.Comment.Text() + v.Doc.Text())
			s.constants[dir] = append(s.constants[dir], constant{v.Names[0].Name, text, strings.ReplaceAll(comment, "\n", " ")})
		}
	}
}

func (s *source) text(dir string, e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.Ident:
		if e.Name == "Group" {
			return groups[dir], true
		}
	case *ast.BinaryExpr:
		left, ok := s.text(dir, e.X)
		right, also := s.text(dir, e.Y)
		return left + right, ok && also
	}
	return "", false
}

// pass notes a name selected from another package that is handed on.
func (s *source) pass(e ast.Expr) {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if from, ok := sel.X.(*ast.Ident); ok {
			s.passed[from.Name+"."+sel.Sel.Name] = true
		}
	}
}

// call notes what is handed to a call, and the reason of an event that it publishes.
func (s *source) call(c *ast.CallExpr) {
	method, ok := c.Fun.(*ast.SelectorExpr)
	if ok && method.Sel.Name != "wants" { // which asks whether a metric is to be written
		for _, arg := range c.Args {
			s.pass(arg)
		}
	}
	if !ok {
		return
	}
	at := map[string]int{"Normal": 1, "Warning": 1, "WarningEvery": 2}[method.Sel.Name]
	from, ok := method.X.(*ast.SelectorExpr)
	if !ok || at == 0 || from.Sel.Name != "Events" || len(c.Args) <= at {
		return
	}
	if lit, ok := c.Args[at].(*ast.BasicLit); ok {
		if text, ok := literal(lit); ok {
			s.events[text] = true
		}
	}
}

func literal(b *ast.BasicLit) (string, bool) {
	if b.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(b.Value)
	return text, err == nil
}
