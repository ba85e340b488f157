package fit_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// What rules look at of a pod tells classes apart: of a field that it does not, the
// answer for one pod is taken for all of its class.
func TestIdentityTellsWhatRulesRead(t *testing.T) {
	elsewhere := map[string]string{ // by field, or by field and file that reads it, what tells pods apart that differ in it
		"Requests": "classes are of equal requests", "Ports": "classes are of equal ports", "Priority": "classes are of equal priority",
		"Key in nodedevices.go": "a claim that pods share tells itself",
		"Namespace in rule.go":  "a rule without Identity tells all pods apart by it", "Name in rule.go": "as Namespace",
		"Node": "pods that wait have none, and a claim that has devices tells itself",
	}
	read := readOfPods(t)
	if len(read) < 5 {
		t.Fatalf("rules read only %v of pods", read)
	}
	for excuse := range elsewhere {
		if name, file, some := strings.Cut(excuse, " in "); read[name] == nil || some && !slices.Contains(read[name], file) {
			t.Errorf("no rule reads %s any more: take it out here", excuse)
		}
	}
	zero := fit.AppendIdentity(nil, &world.Pod{})
	for name, files := range read {
		field, ok := reflect.TypeFor[world.Pod]().FieldByName(name)
		files = slices.DeleteFunc(files, func(file string) bool { return elsewhere[name+" in "+file] != "" })
		if elsewhere[name] != "" || len(files) == 0 || !ok { // a method
			continue
		}
		var p world.Pod
		enginetest.Fill(reflect.ValueOf(&p).Elem().FieldByIndex(field.Index))
		if bytes.Equal(zero, fit.AppendIdentity(nil, &p)) {
			t.Errorf("a rule in %v reads %s of pods, and pods that differ in it are of one class: have the Identity of the rule append it; if it appends the part that the rule reads, say so in elsewhere, above", files, name)
		}
	}
}

// What rules look at of a pod is among what is drawn for the properties of plans: of a field that is not, no
// property says whether plans heed it.
func TestWhatRulesReadIsDrawn(t *testing.T) {
	const worlds = 300
	drawn := map[string]bool{}
	for _, lines := range []*rapid.Generator[[]string]{enginetest.Lines(), enginetest.DeviceLines()} {
		for seed := range worlds {
			scene := enginetest.NewScene()
			for _, line := range lines.Example(seed) {
				if err := scene.Line(line); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range scene.World().Pods() {
				v := reflect.ValueOf(*p)
				for i := range v.NumField() {
					if !v.Field(i).IsZero() {
						drawn[v.Type().Field(i).Name] = true
					}
				}
			}
		}
	}
	for name := range readOfPods(t) {
		field, ok := reflect.TypeFor[world.Pod]().FieldByName(name)
		if ok && len(field.Index) == 1 && !drawn[name] {
			t.Errorf("rules read %s of pods, and no generated pod has it: have enginetest, generate.go, draw it", name)
		}
	}
}

// readOfPods are the fields and methods of pods that the package reads, each with the files that do.
func readOfPods(t *testing.T) map[string][]string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]bool{}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				readBy(fn, read)
			}
		}
		for name := range read {
			out[name] = append(out[name], f.Name())
		}
	}
	return out
}

// readBy adds what a function reads of the pods that it is given.
func readBy(fn *ast.FuncDecl, out map[string]bool) {
	pods := map[string]bool{}
	for _, p := range fn.Type.Params.List {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if of, ok := star.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Pod" {
			for _, name := range p.Names {
				pods[name.Name] = true
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && pods[x.Name] {
				out[s.Sel.Name] = true
			}
		}
		return true
	})
}
