package enact

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// heard keeps the events that are published.
type heard []string

func (h *heard) Normal(o client.Object, reason, format string, args ...any) {
	*h = append(*h, o.GetName()+" "+reason+" "+fmt.Sprintf(format, args...))
}

// of is what was heard; nil for nothing.
func (h *heard) of() heard { return append(heard(nil), *h...) }

func (h *heard) Warning(o client.Object, reason, format string, args ...any) {
	h.Normal(o, reason, format, args...)
}

func (h *heard) WarningEvery(_ time.Duration, o client.Object, reason, message string) {
	h.Normal(o, reason, "%s", message)
}

// The event of a refused pod is a line, however many pools there are.
func TestTellIsBrief(t *testing.T) {
	b := world.NewBuilder()
	why := &reason.Why{Code: reason.NoPlace}
	for i := range 10 {
		id := world.PoolID{Kind: world.NodePool, Name: fmt.Sprint("p", i)}
		if err := b.SetPool(world.Pool{ID: id}); err != nil {
			t.Fatal(err)
		}
		why.Causes = append(why.Causes, &reason.Why{Code: reason.Taint, Subject: "NodePool " + id.Name, Detail: "example.com/own=yes:NoSchedule", About: reason.About{Key: "example.com/own", Value: "yes", Effect: world.NoSchedule}})
	}
	key := world.Key{Namespace: "default", Name: "web"}
	if err := b.SetPod(world.Pod{Key: key, Waiting: true}); err != nil {
		t.Fatal(err)
	}
	said := &heard{}
	e := &Enactor{Cluster: cluster.New(clock.Wall), Events: said, Now: clock.Wall, Targets: &Targets{}}
	e.Publish(b.Snapshot(0), plan.Plan{Refused: []plan.Refusal{{Pod: key, Why: why}}}, nil)
	const begin, end = `web FailedScheduling Failed to schedule pod, incompatible with nodepool "p0", `, " more pools"
	if len(*said) != 1 || !strings.HasPrefix((*said)[0], begin) || !strings.HasSuffix((*said)[0], end) || len((*said)[0]) > len("web FailedScheduling ")+200 {
		t.Errorf("said %q", *said)
	}
}

// Every pod of a plan is told where it goes, in the words that its pool's kind has; those
// that are not there any more, hold room only, or are kept back by their owners are not.
func TestTell(t *testing.T) {
	b := world.NewBuilder()
	for _, name := range []string{"bought", "filled", "joined", "free", "room", "gated", "refused", "unmade"} {
		must(t, b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: name}, UID: name, Virtual: name == "room"}))
	}
	must(t, b.SetClaim(world.Claim{Name: "c", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}}))
	must(t, b.SetClaim(world.Claim{Name: "o", ProviderID: "i", Pool: world.PoolID{Kind: world.Provisioner, Name: "old"}}))
	must(t, b.SetNode(world.Node{Name: "n", ProviderID: "i"}))
	must(t, b.SetNode(world.Node{Name: "own"}))
	of := func(names ...string) (out []world.Key) {
		for _, n := range append([]string{"vanished", "room"}, names...) {
			out = append(out, world.Key{Namespace: "d", Name: n})
		}
		return out
	}
	no := func(pod string, code reason.Code) plan.Refusal {
		return plan.Refusal{Pod: world.Key{Namespace: "d", Name: pod}, Why: &reason.Why{Code: code}}
	}
	p := plan.Plan{
		New:     []plan.Ask{{Name: "a", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Pods: of("bought")}, {Name: "b", Pods: of("unmade")}},
		Filled:  []plan.Fill{{Claim: "c", Pods: of("filled")}, {Node: "n", Claim: "o", Pods: of("joined")}, {Node: "own", Pods: of("free")}},
		Refused: []plan.Refusal{no("gated", reason.Gated), no("refused", reason.NoPlace), no("vanished", reason.NoPlace), no("room", reason.NoPlace), {Pod: world.Key{Namespace: "d", Name: "gone"}}},
	}
	said := &heard{}
	e := &Enactor{Cluster: cluster.New(clock.Wall), Events: said, Now: clock.Wall, Targets: &Targets{}}
	e.Publish(b.Snapshot(0), p, map[string]string{"a": "p-1"})
	want := heard{
		"bought Nominated Pod should schedule on: nodeclaim/p-1", "filled Nominated Pod should schedule on: nodeclaim/c", "joined Nominated Pod should schedule on n",
		"free Nominated Pod should schedule on: node/own", "refused FailedScheduling Failed to schedule pod, no provisioners found",
	}
	if diff := cmp.Diff(want, said.of()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for place, want := range map[string][]world.Key{"p-1": of("bought"), "c": of("filled"), "n": of("joined"), "o": of("joined"), "own": of("free"), "": nil} {
		if diff := cmp.Diff(want, e.Targets.podsOf(place)); diff != "" {
			t.Errorf("on their way to %q: -want +got\n%s", place, diff)
		}
	}
}

// A pod on its way to a Provisioner's machine is told the node as soon as that has a name; of a NodePool's it knows the claim.
func TestNamed(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web", UID: "u"}}
	for name, tc := range map[string]struct {
		pool, node string
		want       heard
	}{
		"Provisioner": {v1alpha5.LabelProvisioner, "n", heard{"web Nominated Pod should schedule on n"}},
		"NodePool":    {v1.LabelNodePool, "n", nil},
		"NoName":      {v1alpha5.LabelProvisioner, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			said := &heard{}
			e := &Enactor{Cluster: cluster.New(clock.Wall), Events: said, Now: clock.Wall, Targets: &Targets{}}
			e.Cluster.SetPod(pod)
			e.Targets.set(plan.Plan{Filled: []plan.Fill{{Claim: "c", Pods: []world.Key{{Namespace: "d", Name: "web"}}}}}, nil)
			e.Named(&v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{tc.pool: "p"}}}, tc.node)
			if diff := cmp.Diff(tc.want, said.of()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Pods whose claim cannot be made are told why without its name, which is another at each try.
func TestUnmade(t *testing.T) {
	b := world.NewBuilder()
	var keys []world.Key
	for _, p := range []world.Pod{{Key: world.Key{Namespace: "d", Name: "web"}}, {Key: world.Key{Namespace: "d", Name: "room"}, Virtual: true}} {
		must(t, b.SetPod(p))
		keys = append(keys, p.Key)
	}
	keys = append(keys, world.Key{Namespace: "d", Name: "gone"})
	const rest = "web FailedScheduling Failed to schedule pod, the NodeClaim for it cannot be created and is tried again: "
	for _, tc := range []struct {
		claim *v1.NodeClaim
		want  string
	}{
		{&v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "p-x7k2q"}}, rest + "a webhook refuses p"}, {nil, rest + "a webhook refuses p-x7k2q"},
	} {
		said := &heard{}
		e := &Enactor{Events: said}
		e.unmade(b.Snapshot(0), plan.Ask{Pool: world.PoolID{Name: "p"}, Pods: keys}, tc.claim, errors.New("a webhook refuses p-x7k2q"))
		if diff := cmp.Diff(heard{tc.want}, said.of()); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}
