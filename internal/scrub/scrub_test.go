package scrub_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/scrub"
)

// fill sets every string in a value, and every slice and map to one element, and tells where it put which string.
func fill(v reflect.Value, path string, at map[string]string) {
	switch v.Kind() {
	case reflect.String:
		text := fmt.Sprintf("secret%d", len(at))
		at[text] = path
		v.SetString(text)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), path+"."+v.Type().Field(i).Name, at)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, at)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, path+" key", at)
		fill(value, path+" value", at)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, at)
	}
}

// Whatever field a pod, a budget, a DaemonSet, a namespace or a back-off has, or will have, its texts are
// renamed, but for those that say what is asked of machines.
func TestNothingIsForgotten(t *testing.T) {
	stays := map[string]bool{
		".Requests.Name": true, ".Node": true, ".Nominated": true, ".Planned": true,
		".NodeSelector.Key": true, ".NodeSelector.Values": true,
		".NodeTerms.Labels.Key": true, ".NodeTerms.Labels.Values": true, ".NodeTerms.Name.Key": true, ".NodeTerms.Name.Values": true,
		".NodeWishes.Term.Labels.Key": true, ".NodeWishes.Term.Labels.Values": true, ".NodeWishes.Term.Name.Key": true, ".NodeWishes.Term.Name.Values": true,
		".Tolerations.Key": true, ".Tolerations.Value": true, ".Tolerations.Effect": true,
		".Spread.Key": true, ".PodTerms.Key": true, ".Ports.IP": true, ".Ports.Protocol": true,
		".Volumes.Driver": true, ".Volumes.Places.Key": true, ".Volumes.Places.Values": true,
		".Devices.Node": true, ".Devices.Requests.Options.Class": true, ".Devices.Requests.Options.Selection": true, ".Devices.Alike.Attribute": true, ".Devices.Problem.Code": true,
		".BackoffID.Pool.Kind": true, ".BackoffID.Pool.Name": true, ".BackoffID.Template": true,
	}
	b := world.NewBuilder()
	at := map[string]string{}
	var pod world.Pod
	fill(reflect.ValueOf(&pod).Elem(), "", at)
	var guard world.Guard
	fill(reflect.ValueOf(&guard).Elem(), "", at)
	var namespace world.Namespace
	fill(reflect.ValueOf(&namespace).Elem(), "", at)
	var backoff world.Backoff
	fill(reflect.ValueOf(&backoff).Elem(), "", at)
	var daemon world.DaemonSet
	fill(reflect.ValueOf(&daemon).Elem(), "", at)
	for text, path := range at {
		at[text] = strings.TrimPrefix(path, ".Pod")
		if strings.HasPrefix(path, ".PodTerms") {
			at[text] = path
		}
	}
	for _, err := range []error{b.SetPod(pod), b.SetGuard(guard), b.SetNamespace(namespace), b.SetBackoff(backoff), b.SetDaemonSet(daemon)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := (&scrub.Names{}).World(b.Snapshot(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Pods()) != 1 || len(w.Guards()) != 1 || len(w.Namespaces()) != 1 || len(w.DaemonSets()) != 1 || len(w.Backoffs()) != 1 {
		t.Fatalf("made of %d pods, %d budgets, %d namespaces, %d DaemonSets, %d back-offs", len(w.Pods()), len(w.Guards()), len(w.Namespaces()), len(w.DaemonSets()), len(w.Backoffs()))
	}
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	for text, path := range at {
		if strings.Contains(string(data), `"`+text+`"`) && !stays[path] {
			t.Errorf("%s is still there: rename it in this package, or say here that it stays", path)
		}
	}
}

// Where machines are renamed no node or claim keeps its name anywhere, and pods are where they were.
func TestMachines(t *testing.T) {
	made := world.NewBuilder()
	at := map[string]string{}
	var node world.Node
	var claim world.Claim
	var pod world.Pod
	fill(reflect.ValueOf(&node).Elem(), "node", at)
	fill(reflect.ValueOf(&claim).Elem(), "claim", at)
	fill(reflect.ValueOf(&pod).Elem(), "pod", at)
	node.Labels[label.Hostname], claim.Labels[label.Hostname] = node.Name, node.Name
	claim.Node, pod.Node, pod.Nominated, pod.Planned = node.Name, node.Name, node.Name, claim.Name
	pod.NodeSelector = label.SetOf(label.Is(label.Hostname, node.Name))
	for _, err := range []error{made.SetNode(node), made.SetClaim(claim), made.SetPod(pod)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := (&scrub.Names{Machines: true}).World(made.Snapshot(1))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"node.Name", "node.ProviderID", "node.Claim", "node.Moves.To", "node.Moves.Pods.Name", "node.Moves.Pods.Namespace",
		"claim.Name", "claim.UID", "claim.ProviderID", "claim.Pods.Name", "claim.Pods.Namespace", "claim.Change", "claim.Replaces",
	} {
		found := false
		for text, p := range at {
			if found = found || p == path; p == path && strings.Contains(string(data), `"`+text+`"`) {
				t.Errorf("%s is still there", path)
			}
		}
		if !found {
			t.Errorf("there is no field %s", path)
		}
	}
	p := w.Pods()[0]
	if p.Node == "" || w.Place(p.Node) == nil || p.Nominated != p.Node || w.Place(p.Node).Claim == nil || w.Place(p.Node).Claim.Name != p.Planned || !p.NodeSelector.Match(w.Place(p.Node).Labels()) {
		t.Errorf("the pod on %q, nominated for %q, planned for %q, is not where it was", p.Node, p.Nominated, p.Planned)
	}
}

// scene is two namespaces of which the pods look at each other.
func scene(t *testing.T) *world.World {
	t.Helper()
	s := enginetest.NewScene()
	for _, line := range []string{
		"type large cpu=2 memory=8Gi price=0.0940 zones=a,b", "pool p",
		"node n1 cpu=2 memory=8Gi zone=a pool=p type=large", "node n2 cpu=2 memory=8Gi zone=b pool=p type=large",
	} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	made := s.World()
	b := made.Edit()
	away := func(k, v, namespace string) []world.PodTerm {
		return []world.PodTerm{{Anti: true, Key: label.Zone, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is(k, v))}, Namespaces: []string{namespace}}}
	}
	for _, p := range []world.Pod{
		{Key: world.Key{Namespace: "vault", Name: "ledger-0"}, Labels: map[string]string{"app": "ledger"}, Node: "n1"},
		{Key: world.Key{Namespace: "vault", Name: "audit-0"}, Labels: map[string]string{"app": "audit"}, Waiting: true, PodTerms: away("app", "ledger", "vault")},
		{Key: world.Key{Namespace: "shop", Name: "web-0"}, Labels: map[string]string{"app": "web"}, Waiting: true, PodTerms: away("app", "ledger", "vault")},
	} {
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.SetGuard(world.Guard{Key: world.Key{Namespace: "vault", Name: "ledger"}, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", "ledger"))}}); err != nil {
		t.Fatal(err)
	}
	return b.Snapshot(made.At())
}

// Where pods may go is the same with other names.
func TestDecidesAlike(t *testing.T) {
	w := scene(t)
	n := &scrub.Names{Shown: func(namespace string) bool { return namespace == "shop" }}
	hidden, err := n.World(w)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(hidden)
	for _, secret := range []string{"ledger-0", "audit"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	if !strings.Contains(string(data), "web-0") {
		t.Error("what may be read is not told")
	}
	where := func(w *world.World) map[string]string {
		out := map[string]string{}
		p := provision.Decide(w, provision.Options{})
		for _, f := range p.Filled {
			for _, k := range f.Pods {
				out[k.Name] = f.Node
			}
		}
		return out
	}
	got := where(hidden)
	if got["web-0"] != "n2" {
		t.Errorf("web-0, which keeps away from a pod of zone a, goes to %q", got["web-0"])
	}
	if diff := cmp.Diff(len(where(w)), len(got)); diff != "" {
		t.Errorf("so many pods find a place: %s", diff)
	}
	guards := 0
	for _, p := range hidden.Pods() {
		guards += len(hidden.GuardsOf(p))
	}
	if guards != 1 {
		t.Errorf("%d pods have the budget of one", guards)
	}
}
