package picture_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/picture"
)

const pool = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"general"},"spec":{"weight":7,"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},"requirements":[]}}}}
`

// A kept world takes objects that are supposed to be there: a pool buys what
// pools of its class do, and one of the same name is another.
func TestAddToKeptWorld(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	b := world.NewBuilder()
	class := world.TemplateID("karpenter.k8s.aws/EC2NodeClass/default")
	if err := b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: class}); err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(b.Snapshot(100))
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var source picture.Source
	var supposed picture.Suppositions
	source.Flags(flags)
	supposed.Flags(flags)
	more := file("more.yaml", []byte(pool+`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]}}`))
	if err := flags.Parse([]string{"-f", file("world.json", kept), "--add", more}); err != nil {
		t.Fatal(err)
	}
	in, err := source.Read(t.Context(), strings.NewReader(""), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := in.World(999)
	if err != nil {
		t.Fatal(err)
	}
	next, err := in.Suppose(&supposed, w, strings.NewReader(""), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	p := next.Pools()[0]
	if len(next.Pools()) != 1 || p.Weight != 7 || next.Catalog(p.Template) == nil || len(next.Waiting()) != 1 || next.At() != 100 {
		t.Errorf("pools %+v, %d waiting", p, len(next.Waiting()))
	}
	if len(w.Waiting()) != 0 || w.Pools()[0].Weight != 0 {
		t.Error("the kept world has changed")
	}
}
