// Package rules holds the rules of the house as data and as checks: which package
// may import which, what the engine may not do, and how packages are named and
// introduced. Its tests run the checks over the whole tree; nothing else
// imports it.
package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the name of this module.
const Module = "github.com/tenon-sh/tenon"

// Fault is one place where a rule is broken.
type Fault struct {
	File string // from the root of the module
	Line int    // 0: the file or package as a whole
	Why  string // the rule, said so that one knows what to do instead
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Why
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Why)
}

// Tree is the Go source of the module, parsed and not type-checked, so that
// rules hold for files of every platform and for code that does not build.
type Tree struct {
	Packages []Package // by folder
	fset     *token.FileSet
}

// Package is one folder of Go source.
type Package struct {
	Dir   string // from the root, with slashes
	Name  string
	Files []File
}

// File is one file of Go source.
type File struct {
	Path    string // from the root, with slashes
	Test    bool   // its name ends in _test.go
	Imports []Import
	Syntax  *ast.File
}

// Import is one import of a file.
type Import struct {
	Path string // as written
	Own  string // the folder, when it is of this module
	Std  bool   // of the standard library
	Line int
}

// Read parses the module at root, without the modules nested in it.
func Read(root string) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	byDir := map[string]*Package{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (skipped(d.Name()) || exists(filepath.Join(name, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return t.add(byDir, rel, src)
	})
	if err != nil {
		return nil, err
	}
	for _, p := range byDir {
		t.Packages = append(t.Packages, *p)
	}
	slices.SortFunc(t.Packages, func(a, b Package) int { return cmp.Compare(a.Dir, b.Dir) })
	return t, nil
}

// add parses one file into the package of its folder.
func (t *Tree) add(byDir map[string]*Package, rel string, src []byte) error {
	syntax, err := parser.ParseFile(t.fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := File{Path: rel, Test: strings.HasSuffix(rel, "_test.go"), Syntax: syntax}
	for _, spec := range syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		i := Import{Path: p, Line: t.fset.Position(spec.Pos()).Line}
		first, _, _ := strings.Cut(p, "/")
		i.Std = !strings.Contains(first, ".")
		if own, ok := strings.CutPrefix(p, Module+"/"); ok {
			i.Own = own
		}
		f.Imports = append(f.Imports, i)
	}
	dir := path.Dir(rel)
	pkg := byDir[dir]
	if pkg == nil {
		pkg = &Package{Dir: dir}
		byDir[dir] = pkg
	}
	pkg.Files = append(pkg.Files, f)
	if pkg.Name == "" || !f.Test {
		pkg.Name = strings.TrimSuffix(syntax.Name.Name, "_test")
	}
	return nil
}

// skipped reports whether a folder holds no source of ours.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin"
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
