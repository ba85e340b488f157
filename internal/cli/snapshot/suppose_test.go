package snapshot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
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
	var source snapshot.Source
	var supposed snapshot.Suppositions
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

// A workload is named by any name that kubectl has for its kind; what cannot be read says what is wanted.
func TestScaleKinds(t *testing.T) {
	for text, want := range map[string]string{
		"deploy/web=2":           "there is no pod of deployment default/web",
		"Deployment/shop/web=2":  "there is no pod of deployment shop/web",
		"deployments.apps/web=0": "there is no pod of deployment default/web",
		"sts/db=1":               "there is no pod of statefulset default/db",
		"rs/x=1":                 "there is no pod of replicaset default/x",
		"ds/agent=1":             `--scale ds/agent=1: a "ds" cannot be scaled here: want a deployment (deploy), statefulset (sts) or replicaset (rs)`,
		"deploy/web":             "--scale deploy/web: want deployment/NAMESPACE/NAME=N",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		var supposed snapshot.Suppositions
		supposed.Flags(flags)
		if err := flags.Parse([]string{"--scale", text}); err != nil {
			t.Fatal(err)
		}
		_, err := (&snapshot.Input{}).Suppose(&supposed, world.NewBuilder().Snapshot(1), strings.NewReader(""), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
