package rules

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// empty names say nothing about what a package is for. What two packages need
// belongs to the noun it is about.
func emptyNames() []string {
	return list("util utils common helper helpers types pkg misc shared base lib core manager")
}

// nouns are the packages for which such a name is the thing itself.
func nouns() []string {
	return list("internal/aws/types internal/cli/types")
}

// Names finds packages that do not say what they are.
func (t *Tree) Names() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		for _, name := range emptyNames() {
			if path.Base(p.Dir) == name && !matches(p.Dir, nouns()) {
				faults = append(faults, Fault{File: p.Dir, Why: fmt.Sprintf("%q says nothing: name the package for the noun it is about", name)})
			}
		}
		if want := introduction(p); !introduced(p, want) {
			faults = append(faults, Fault{File: p.Files[0].Path, Line: 1, Why: fmt.Sprintf("no file says what the package is: begin one with a comment %q", "// "+want+" …")})
		}
	}
	return faults
}

// introduction is how the comment of a package begins.
func introduction(p Package) string {
	if p.Name == "main" {
		return "Command " + path.Base(p.Dir)
	}
	return "Package " + p.Name
}

func introduced(p Package, want string) bool {
	for _, f := range p.Files {
		if f.Test && !onlyTests(p) {
			continue
		}
		if doc := f.Syntax.Doc; doc != nil && strings.HasPrefix(doc.Text(), want+" ") {
			return true
		}
	}
	return false
}

func onlyTests(p Package) bool {
	for _, f := range p.Files {
		if !f.Test {
			return false
		}
	}
	return true
}

// Inits finds functions that run before main: what a program does begins in
// main and can be read from there.
func (t *Tree) Inits() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		if below(p.Dir, "api") {
			continue // the schemes of generated types register themselves
		}
		for _, f := range p.Files {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					faults = append(faults, Fault{f.Path, t.fset.Position(fn.Pos()).Line, "no init: pass what it would set up as a value"})
				}
			}
		}
	}
	return faults
}

// drawer is the package through which tests draw at random.
const drawer = "engine/enginetest/chance"

// Chance finds tests that draw differently on every run, which then fail for changes
// that have nothing to do with it.
func (t *Tree) Chance() []Fault {
	sources := list("New NewPCG NewChaCha8 NewSource NewZipf")
	var faults []Fault
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if !f.Test || p.Dir == drawer {
				continue
			}
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				fn, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				line := t.fset.Position(call.Pos()).Line
				switch of, _ := fn.X.(*ast.Ident); {
				case of == nil:
				case of.Name == "rapid" && (fn.Sel.Name == "Check" || fn.Sel.Name == "MakeCheck"):
					faults = append(faults, Fault{f.Path, line, "draws differently on every run: check with " + drawer})
				case of.Name == "rand" && f.imports("math/rand", "math/rand/v2") && !slices.Contains(sources, fn.Sel.Name):
					faults = append(faults, Fault{f.Path, line, "draws differently on every run: make a source of a seed, rand.New(rand.NewPCG(…))"})
				}
				return true
			})
		}
	}
	return faults
}

// imports reports whether the file imports one of the packages.
func (f File) imports(paths ...string) bool {
	return slices.ContainsFunc(f.Imports, func(i Import) bool { return slices.Contains(paths, i.Path) })
}

// wordRule is something no line of the project's text may say.
type wordRule struct {
	is  *regexp.Regexp
	why string
}

func wordRules() []wordRule {
	return []wordRule{
		{
			regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`),
			"unfinished work has no place in the tree: do it, leave it out and say so in the docs, or open an issue",
		},
		{
			regexp.MustCompile(`(^|[^\w.-])/(work|root)/`),
			"a path of one machine: the project builds and runs anywhere",
		},
		{
			regexp.MustCompile(`(` + strings.Join([]string{`proxy\.golang`, `sum\.golang`, `registry\.npmjs`, `deb\.debian`}, `|`) + `)\.(org|com)`),
			"the host of a package registry: which one is used is the user's setting",
		},
		{
			regexp.MustCompile(`\b([Nn]obody|[Ww]homever)\b`),
			"pods, nodes and programs are not persons: name what does it, such as a pod, a node, a controller or a user",
		},
		{
			regexp.MustCompile(`(^|[\s(])(anew|whilst|wherefore|thereof)\b([^"'` + "`" + `-]|$)`),
			"an old word: again, while, of it; what a controller makes again is recreated",
		},
	}
}

// Words finds lines of text that no file of the project should have, and what pages link to or name
// that is not there.
func Words(root string) ([]Fault, error) {
	var faults []Fault
	words := wordRules()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && rel != "." && skipped(d.Name()) && rel != ".github" && rel != ".ci":
			return filepath.SkipDir
		case d.IsDir() || !ofPeople(rel) || below(rel, "internal/rules"):
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		faults = append(faults, wordFaults(root, rel, src, words)...)
		return nil
	})
	return faults, err
}

// ofPeople reports whether a file is written by people, for people.
func ofPeople(rel string) bool {
	switch path.Ext(rel) {
	case ".go", ".md", ".mod", ".yaml", ".yml", ".sh", ".tf", ".ts", ".css", ".html", ".tpl", ".txtar":
		return true
	}
	return path.Base(rel) == "Makefile" || path.Base(rel) == "Dockerfile" || below(rel, ".ci")
}

func wordFaults(root, rel string, src []byte, words []wordRule) []Fault {
	var faults []Fault
	lines := bufio.NewScanner(bytes.NewReader(src))
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		for _, w := range words {
			if found := w.is.FindString(lines.Text()); found != "" {
				faults = append(faults, Fault{rel, n, fmt.Sprintf("%q: %s", strings.TrimSpace(found), w.why)})
			}
		}
		if path.Ext(rel) == ".md" {
			faults = append(faults, linkFaults(root, rel, lines.Text(), n)...)
			faults = append(faults, nameFaults(root, rel, lines.Text(), n)...)
		}
	}
	return faults
}
