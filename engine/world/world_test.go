package world_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// change is one Set or Delete on a Builder, and on the plain model beside it.
type change struct {
	name   string
	do     func(*world.Builder) error
	key    string
	delete bool
}

func changes() *rapid.Generator[change] {
	return rapid.Custom(func(t *rapid.T) change {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		name := fmt.Sprintf("x%d", n)
		node := fmt.Sprintf("node%d", rapid.IntRange(0, 3).Draw(t, "node"))
		gone := rapid.IntRange(0, 3).Draw(t, "gone") == 0
		switch rapid.SampledFrom([]string{"pod", "node", "claim", "pool"}).Draw(t, "kind") {
		case "pod":
			p := world.Pod{
				Key: world.Key{Namespace: "d", Name: name}, Node: node, Done: rapid.Bool().Draw(t, "done"),
				Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(rapid.IntRange(0, 3).Draw(t, "cpu"))}),
				Labels:   map[string]string{"a": "1", "b": "2"},
			}
			if rapid.Bool().Draw(t, "waiting") {
				p.Node = ""
			}
			if gone {
				return change{"delete pod " + name, func(b *world.Builder) error { b.DeletePod(p.Key); return nil }, "p" + name, true}
			}
			return change{"set pod " + name, func(b *world.Builder) error { return b.SetPod(p) }, "p" + name, false}
		case "node":
			v := world.Node{Name: node, ProviderID: said(t, fmt.Sprintf("id%d", n%3)), Ready: rapid.Bool().Draw(t, "ready"), Claim: said(t, name)}
			if gone {
				return change{"delete node " + node, func(b *world.Builder) error { b.DeleteNode(node); return nil }, "n" + node, true}
			}
			return change{"set node " + node, func(b *world.Builder) error { return b.SetNode(v) }, "n" + node, false}
		case "claim":
			v := world.Claim{Name: name, ProviderID: said(t, fmt.Sprintf("id%d", n%3)), Node: said(t, node), Requirements: label.SetOf(label.Is("k", "v"))}
			if rapid.IntRange(0, 3).Draw(t, "namesake") == 0 {
				v.Name, name = node, node
			}
			if gone {
				return change{"delete claim " + name, func(b *world.Builder) error { b.DeleteClaim(name); return nil }, "c" + name, true}
			}
			return change{"set claim " + name, func(b *world.Builder) error { return b.SetClaim(v) }, "c" + name, false}
		default:
			v := world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: name}, Weight: int32(n)}
			if gone {
				return change{"delete pool " + name, func(b *world.Builder) error { b.DeletePool(v.ID); return nil }, "o" + name, true}
			}
			return change{"set pool " + name, func(b *world.Builder) error { return b.SetPool(v) }, "o" + name, false}
		}
	})
}

// said is the value, or nothing.
func said(t *rapid.T, v string) string { return rapid.SampledFrom([]string{v, v, ""}).Draw(t, "said") }

// Any order of deltas gives the same World as building from nothing.
func TestHistoryLeavesNoTrace(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		long := world.NewBuilder()
		last := map[string]change{}
		for _, c := range rapid.SliceOfN(changes(), 0, 60).Draw(t, "history") {
			if err := c.do(long); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			last[c.key] = c
			switch rapid.IntRange(0, 4).Draw(t, "meanwhile") {
			case 0:
				long.Snapshot(1)
			case 1:
				long = long.Snapshot(1).Edit()
			}
		}
		fresh := world.NewBuilder()
		keys := make([]string, 0, len(last))
		for k := range last {
			keys = append(keys, k)
		}
		for _, k := range rapid.Permutation(keys).Draw(t, "order") {
			if c := last[k]; !c.delete {
				if err := c.do(fresh); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
		}
		a, b := long.Snapshot(7), fresh.Snapshot(7)
		if a.Digest() != b.Digest() {
			t.Errorf("digests differ: %s after the history, %s from nothing", a.Digest(), b.Digest())
		}
		if diff := cmp.Diff(everything(t, a), everything(t, b)); diff != "" {
			t.Errorf("worlds differ: -after the history +from nothing\n%s", diff)
		}
		back, err := world.Read([]byte(text(t, a)))
		if err != nil {
			t.Fatalf("read what was written: %v", err)
		}
		if back.Digest() != a.Digest() {
			t.Errorf("the JSON form lost something:\n%s\n%s", text(t, a), text(t, back))
		}
	})
}

// everything is all that can be seen of a World.
func everything(t rapid.TB, w *world.World) string {
	var b strings.Builder
	b.WriteString(text(t, w))
	for _, p := range w.Waiting() {
		fmt.Fprintf(&b, "\nwaiting %s", p.Key)
	}
	for _, p := range w.Places() {
		fmt.Fprintf(&b, "\nplace %s uses %s, a node: %t:", p.Name(), p.Used, p.Node != nil)
		if p.Node != nil && p.Claim != nil {
			fmt.Fprintf(&b, " claim %s", p.Claim.Name)
		}
		for _, q := range p.Pods {
			fmt.Fprintf(&b, " %s", q.Key)
		}
	}
	return b.String()
}

func text(t rapid.TB, w *world.World) string {
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return string(data)
}

// A World stays as it is, whatever becomes of the Builder or of an edit of it.
func TestSnapshotsDoNotChange(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		b := world.NewBuilder()
		for _, c := range rapid.SliceOfN(changes(), 0, 20).Draw(t, "before") {
			_ = c.do(b)
		}
		w := b.Snapshot(1)
		was, digest := everything(t, w), w.Digest()
		edit := w.Edit()
		for _, c := range rapid.SliceOfN(changes(), 0, 20).Draw(t, "after") {
			_ = c.do(b)
			_ = c.do(edit)
			b.Snapshot(2)
		}
		edit.Snapshot(3)
		if everything(t, w) != was || w.Digest() != digest {
			t.Errorf("the world changed:\n%s\n%s", was, everything(t, w))
		}
	})
}

func TestJoin(t *testing.T) {
	tests := map[string]struct {
		why    string
		node   world.Node
		claims []world.Claim
		want   string
	}{
		"ByName": {
			why:    "A node that names its claim is that claim's, whatever ids say.",
			node:   world.Node{Name: "n", Claim: "b", ProviderID: "i"},
			claims: []world.Claim{{Name: "a", ProviderID: "i"}, {Name: "b"}},
			want:   "b",
		},
		"ByProvider": {
			why:    "The provider id joins a node to the claim that launched it.",
			node:   world.Node{Name: "n", ProviderID: "i"},
			claims: []world.Claim{{Name: "a"}, {Name: "b", ProviderID: "i"}},
			want:   "b",
		},
		"Nobodys": {
			why:    "Empty ids join nothing.",
			node:   world.Node{Name: "n"},
			claims: []world.Claim{{Name: "a"}},
			want:   "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			for _, c := range tc.claims {
				if err := b.SetClaim(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.SetNode(tc.node); err != nil {
				t.Fatal(err)
			}
			got := ""
			if c := b.Snapshot(0).Place("n").Claim; c != nil {
				got = c.Name
			}
			if got != tc.want {
				t.Errorf("%s\nnode joined with claim %q, want %q", tc.why, got, tc.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	b := world.NewBuilder()
	tests := map[string]struct {
		err  error
		want string
	}{
		"NegativeRequest": {
			b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, Requests: amount.Of(amount.Entry{Name: "cpu", Value: -1})}),
			"pod d/p: requests.cpu is negative (-1m): give an amount of zero or more",
		},
		"PoolWithoutKind": {
			b.SetPool(world.Pool{ID: world.PoolID{Name: "x"}}),
			`pool: id needs a name and a kind, NodePool or Provisioner; it is "x" of kind ""`,
		},
		"ShapeTwice": {
			b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "a"}, {Name: "a"}}}),
			`catalogue t: shapes[1].name "a" is there twice`,
		},
		"NotUTF8": {
			b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "\xff"}}),
			`pod "d/\xff": name is not valid UTF-8`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.err == nil || tc.err.Error() != tc.want {
				t.Errorf("got %v, want %s", tc.err, tc.want)
			}
		})
	}
	if got := b.Snapshot(0).Digest(); got != world.NewBuilder().Snapshot(0).Digest() {
		t.Errorf("a refused item left a trace")
	}
}

// BenchmarkOnePod measures a snapshot after one changed pod in a large cluster.
func BenchmarkOnePod(b *testing.B) {
	w := world.NewBuilder()
	for i := range 5000 {
		_ = w.SetNode(world.Node{Name: fmt.Sprintf("node-%04d", i)})
	}
	pod := func(i int, cpu int64) world.Pod {
		return world.Pod{
			Key: world.Key{Namespace: "d", Name: fmt.Sprintf("pod-%06d", i)}, Node: fmt.Sprintf("node-%04d", i%5000),
			Labels: map[string]string{"app": "x"}, Requests: amount.Of(amount.Entry{Name: "cpu", Value: cpu}),
		}
	}
	for i := range 150_000 {
		_ = w.SetPod(pod(i, 100))
	}
	w.Snapshot(0)
	for i := 0; b.Loop(); i++ {
		_ = w.SetPod(pod(i%150_000, int64(i)))
		w.Snapshot(int64(i))
	}
}

// fleet is so many nodes, each with its claim and a pod.
func fleet(n int) *world.Builder {
	w := world.NewBuilder()
	for i := range n {
		_ = w.SetNode(member(i, true))
		_ = w.SetClaim(world.Claim{Name: fmt.Sprintf("claim-%06d", i), ProviderID: fmt.Sprintf("id-%06d", i), Node: fmt.Sprintf("node-%06d", i)})
		_ = w.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: fmt.Sprintf("pod-%06d", i)}, Node: fmt.Sprintf("node-%06d", i)})
	}
	return w
}

func member(i int, ready bool) world.Node {
	return world.Node{Name: fmt.Sprintf("node-%06d", i), ProviderID: fmt.Sprintf("id-%06d", i), Ready: ready}
}

// When a node or a claim changes only its place is another.
func TestOtherPlacesAreKept(t *testing.T) {
	const nodes = 50
	b := fleet(nodes)
	before := b.Snapshot(0)
	if err := b.SetNode(member(7, false)); err != nil {
		t.Fatal(err)
	}
	b.DeleteClaim("claim-000009")
	after := b.Snapshot(1)
	if len(after.Places()) != nodes || after.Place("node-000007").Node.Ready || after.Place("node-000009").Claim != nil {
		t.Errorf("%d places; one stands as %+v, one as %+v", len(after.Places()), after.Place("node-000007"), after.Place("node-000009"))
	}
	for i, p := range after.Places() {
		if kept := p == before.Places()[i]; kept != (i != 7 && i != 9) {
			t.Errorf("the place of %s is kept: %t", p.Name(), kept)
		}
	}
}

// When so much changes at once that all places are joined again they are as if they had been made from nothing, and those
// that nothing has changed for are kept.
func TestVeryManyChanges(t *testing.T) {
	const nodes, come = 100, 300
	b := fleet(nodes)
	before := b.Snapshot(0)
	change := func(b *world.Builder) {
		for i := nodes; i < nodes+come; i++ {
			_ = b.SetNode(member(i, true))
			_ = b.SetClaim(world.Claim{Name: fmt.Sprintf("claim-%06d", i), ProviderID: fmt.Sprintf("id-%06d", i)})
		}
		_ = b.SetNode(member(7, false))
		b.DeleteClaim("claim-000009")
		b.DeleteNode("node-000011")
		b.DeletePod(world.Key{Namespace: "d", Name: "pod-000013"})
	}
	change(b)
	fresh := fleet(nodes)
	change(fresh)
	after := b.Snapshot(1)
	if got, want := everything(t, after), everything(t, fresh.Snapshot(1)); got != want {
		t.Errorf("after the changes it is\n%s\nand from nothing\n%s", got, want)
	}
	for _, p := range before.Places() {
		n := p.Name()
		kept := p == after.Place(n)
		if changed := n == "node-000007" || n == "node-000009" || n == "node-000011" || n == "node-000013"; kept == changed {
			t.Errorf("the place of %s is kept: %t", n, kept)
		}
	}
}

// BenchmarkOneNode measures a snapshot after one changed node in a very large cluster.
func BenchmarkOneNode(b *testing.B) {
	const nodes = 100_000
	w := fleet(nodes)
	w.Snapshot(0)
	for i := 0; b.Loop(); i++ {
		_ = w.SetNode(member(i%nodes, i/nodes%2 == 1))
		w.Snapshot(int64(i))
	}
}

// Equal parts of pods are kept once, however many pods have them.
func TestEqualPartsAreShared(t *testing.T) {
	b := world.NewBuilder()
	for _, name := range []string{"a", "b"} {
		p := world.Pod{Key: world.Key{Namespace: "d", Name: name}, Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 100}), Tolerations: []world.Toleration{{Exists: true}}}
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	pods := b.Snapshot(0).Pods()
	if &pods[0].Requests[0] != &pods[1].Requests[0] || &pods[0].Tolerations[0] != &pods[1].Tolerations[0] {
		t.Error("two pods that ask for the same hold it twice")
	}
}

func TestBlind(t *testing.T) {
	catalog := world.Catalog{Template: "t"}
	tests := map[string]struct {
		why     string
		pool    world.Pool
		catalog *world.Catalog
		want    bool
	}{
		"Unknown":  {"It is not known yet what it may buy.", world.Pool{Template: "t"}, nil, true},
		"Known":    {"It is known, though there may be nothing.", world.Pool{Template: "t"}, &catalog, false},
		"NotReady": {"It buys nothing anyway, and may never.", world.Pool{Template: "t", NotReady: "its class is not there"}, nil, false},
		"Deleting": {"It buys nothing any more.", world.Pool{Template: "t", Deleting: true}, nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			tc.pool.ID = world.PoolID{Kind: world.NodePool, Name: "p"}
			err := b.SetPool(tc.pool)
			if err == nil && tc.catalog != nil {
				err = b.SetCatalog(*tc.catalog)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Snapshot(0).Blind(); got != tc.want {
				t.Errorf("blind: %v, want %v: %s", got, tc.want, tc.why)
			}
		})
	}
}

// Items that were kept before volumes knew access modes have the digest that they had; those that know them do not.
func TestDigestOfVolumes(t *testing.T) {
	read := func(volume string) string {
		w, err := world.Read([]byte(`{"format":"tenon-world/v1","at":1,"pods":[{"namespace":"d","name":"p","volumes":[` + volume + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return w.Digest()
	}
	const kept = "sha256:62d654469f116ca19a26acbc58e1b9b59a95d2d3bb7f14fba8bae4203b1e5183"
	if got := read(`{"id":"v","driver":"ebs","pending":true}`); got != kept {
		t.Errorf("a World with a volume has the digest %s, and had %s", got, kept)
	}
	seen := map[string]string{}
	for _, modes := range []string{``, `,"pending":true`, `,"oneNode":true`, `,"onePod":true`, `,"pending":true,"oneNode":true`, `,"oneNode":true,"onePod":true`} {
		d := read(`{"id":"v","driver":"ebs"` + modes + `}`)
		if other, known := seen[d]; known {
			t.Errorf("volumes with %q and %q have one digest", modes, other)
		}
		seen[d] = modes
	}
}

// Pools that say nothing of a charge have the digest that they had before any could.
func TestDigestOfLaterFields(t *testing.T) {
	read := func(charge string) string {
		w, err := world.Read([]byte(`{"format":"tenon-world/v1","at":1,"pools":[{"id":{"kind":"NodePool","name":"p"}` + charge + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return w.Digest()
	}
	none, zero, some := read(``), read(`,"charge":0`), read(`,"charge":1`)
	const kept = "sha256:c13d2d4aed56d3be4b1ff60bf44b8b903188d9510a8fc13c2d80b55566beb318"
	if none != kept {
		t.Errorf("a World with a pool has the digest %s, and had %s", none, kept)
	}
	if none == zero || zero == some || none == some {
		t.Errorf("no charge, a charge of nothing and another have the digests %s, %s and %s", none, zero, some)
	}
}

// Every field that is known since the first release is in every digest. One that is added to them changes the
// digests of all items that were kept: recordings and journals of earlier releases would be taken for other Worlds.
func TestFieldsThatAreAddedKeepDigests(t *testing.T) {
	text, err := os.ReadFile("testdata/digested.txt")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		left[strings.TrimSpace(line)] = true
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice:
			look(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			look(f.Type)
			name := of.Name() + "." + f.Name
			switch tag := f.Tag.Get("digest"); {
			case tag == "" && !left[name]:
				t.Errorf("%s would change the digest of every item: give it the tag `digest:\"later\"`, or, in a struct that is part of others, `digest:\"fold\"` after a bool", name)
			case tag == "":
				delete(left, name)
			}
		}
	}
	look(reflect.TypeFor[world.Items]())
	for name := range left {
		t.Errorf("%s is not in every digest any more, so those of kept items are others now", name)
	}
}
