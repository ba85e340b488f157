package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every metric that the code of Karpenter's module makes is one of Tenon's too, of the same kind and with the labels
// that it names there, so that its boards and alerts find what they ask for.
func TestItsMetricsAreOurs(t *testing.T) {
	found, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]*ast.File{}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(found)), "pkg"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("prometheus")) && !strings.Contains(path, "pkg/metrics/") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shared := constants(nil)
	for dir, files := range packages {
		if strings.HasSuffix(dir, "/pkg/metrics") {
			shared = constants(files)
		}
	}
	ours, theirs := documented(t), 0
	for _, files := range packages {
		for _, m := range metrics(files, constants(files), shared) {
			theirs++
			has, ok := ours[m.name]
			switch {
			case !ok:
				t.Errorf("there is no %s", m.name)
			case has.kind != m.kind:
				t.Errorf("%s is a %s, not a %s", m.name, has.kind, m.kind)
			}
			for _, l := range m.labels {
				if ok && !slices.Contains(has.labels, l) {
					t.Errorf("%s has the labels %v, not %s", m.name, has.labels, l)
				}
			}
		}
	}
	if theirs < 50 {
		t.Errorf("only %d metrics were found in its code", theirs)
	}
}

type made struct {
	name, kind string
	labels     []string
}

// metrics are what calls in files make, each from its options and, right behind them, its labels.
func metrics(files []*ast.File, own, shared map[string]string) []made {
	text := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, _ := strconv.Unquote(e.Value)
			return s
		case *ast.Ident:
			return own[e.Name]
		case *ast.SelectorExpr:
			return shared[e.Sel.Name]
		}
		return ""
	}
	var out []made
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for i, arg := range call.Args {
				options, ok := arg.(*ast.CompositeLit)
				if !ok {
					continue
				}
				of, ok := options.Type.(*ast.SelectorExpr)
				if !ok || !strings.HasSuffix(of.Sel.Name, "Opts") {
					continue
				}
				m := made{kind: strings.ToLower(strings.TrimSuffix(of.Sel.Name, "Opts"))}
				parts := map[string]string{}
				for _, e := range options.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						parts[kv.Key.(*ast.Ident).Name] = text(kv.Value)
					}
				}
				m.name = strings.Join(slices.DeleteFunc([]string{parts["Namespace"], parts["Subsystem"], parts["Name"]}, func(s string) bool { return s == "" }), "_")
				if i+1 < len(call.Args) {
					if l, ok := call.Args[i+1].(*ast.CompositeLit); ok {
						for _, e := range l.Elts {
							m.labels = append(m.labels, text(e))
						}
					}
				}
				out = append(out, m)
			}
			return true
		})
	}
	return out
}

// constants are the texts with a name in files.
func constants(files []*ast.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Names) != len(v.Values) {
				return true
			}
			for i, name := range v.Names {
				if l, ok := v.Values[i].(*ast.BasicLit); ok && l.Kind == token.STRING {
					out[name.Name], _ = strconv.Unquote(l.Value)
				}
			}
			return true
		})
	}
	return out
}

// documented are the metrics of the page that is made from the code.
func documented(t *testing.T) map[string]made {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(top, "docs/reference/metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]made{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`[ †]*\\| (\\w+) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		labels := strings.Split(m[3], ",")
		for i := range labels {
			labels[i] = strings.TrimSpace(labels[i])
		}
		out[m[1]] = made{m[1], m[2], labels}
	}
	return out
}
