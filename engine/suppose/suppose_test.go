package suppose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

var general = world.PoolID{Kind: world.NodePool, Name: "general"}

// cluster has two nodes of a pool, the first with a pod of each kind of owner.
func cluster(t *testing.T) *world.World {
	t.Helper()
	b := world.NewBuilder()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cores := func(n int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: n * amount.Unit}, amount.Entry{Name: amount.Pods, Value: 10 * amount.Unit})
	}
	shape := func(name string, n int64, price money.Micro) world.Shape {
		return world.Shape{
			Name: name, Capacity: cores(n), Labels: label.Exactly(map[string]string{label.InstanceType: name}),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: price}},
		}
	}
	must(b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{shape("small", 2, 100_000), shape("large", 4, 190_000)}}))
	must(b.SetPool(world.Pool{ID: general, Template: "t"}))
	for _, name := range []string{"n1", "n2"} {
		must(b.SetNode(world.Node{
			Name: name, Ready: true, Pool: general, Claim: name + "-claim", Capacity: cores(2), Allocatable: cores(2),
			Labels: map[string]string{label.InstanceType: "small", label.Zone: "a", label.CapacityType: label.OnDemand},
		}))
		must(b.SetClaim(world.Claim{Name: name + "-claim", Pool: general, Node: name, Initialized: true}))
	}
	pod := func(name string, change func(*world.Pod)) {
		p := world.Pod{
			Key: world.Key{Namespace: "d", Name: name}, Node: "n1",
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 500}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
		}
		change(&p)
		must(b.SetPod(p))
	}
	pod("web-5f6-abcde", func(p *world.Pod) { p.Labels = map[string]string{"pod-template-hash": "5f6"} })
	pod("web-api-77-abcde", func(p *world.Pod) { p.Labels = map[string]string{"pod-template-hash": "77"} })
	pod("db-0", func(p *world.Pod) { p.StatefulOwner = true })
	pod("log-x", func(p *world.Pod) { p.DaemonSet = "log"; p.Requests = nil })
	return b.Snapshot(1000)
}

func decide(w *world.World) suppose.Side {
	return suppose.Side{World: w, Plan: provision.Decide(w, provision.Options{})}
}

func names(pods []*world.Pod) string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = p.Name
	}
	return strings.Join(out, " ")
}

func TestChanges(t *testing.T) {
	pods := func(w *world.World) string { return names(w.Pods()) }
	tests := map[string]struct {
		why    string
		change suppose.Change
		see    func(*world.World) string
		want   string
		err    string
	}{
		"Node": {
			why: "Pods of a node that is gone wait, daemons are gone with it.", change: suppose.WithoutNode("n1"),
			see: func(w *world.World) string { return names(w.Waiting()) + " of " + pods(w) }, want: "db-0 web-5f6-abcde web-api-77-abcde of db-0 web-5f6-abcde web-api-77-abcde",
		},
		"Claim":  {why: "A machine answers to its claim's name too.", change: suppose.WithoutNode("n2-claim"), see: func(w *world.World) string { return fmt.Sprint(len(w.Places())) }, want: "1"},
		"NoNode": {why: "What is not there cannot go.", change: suppose.WithoutNode("n3"), err: `no node or claim "n3"`},
		"Pool": {
			why: "A pool takes its machines with it.", change: suppose.WithoutPool(general),
			see: func(w *world.World) string { return fmt.Sprint(len(w.Places()), len(w.Pools()), len(w.Waiting())) }, want: "0 0 3",
		},
		"Anew": {
			why: "Pools stay when all nodes are to be new.", change: suppose.Anew,
			see: func(w *world.World) string { return fmt.Sprint(len(w.Places()), len(w.Pools()), len(w.Waiting())) }, want: "0 1 3",
		},
		"More": {
			why: "Pods are added like the last one; another workload's are not counted.", change: suppose.Scale(suppose.Workload{Kind: "deployment", Namespace: "d", Name: "web"}, 3),
			see: pods, want: "db-0 log-x web-5f6-abcde web-api-77-abcde web-supposed-1 web-supposed-2",
		},
		"Fewer": {
			why: "None is left of what is scaled to nothing.", change: suppose.Scale(suppose.Workload{Kind: "statefulset", Namespace: "d", Name: "db"}, 0),
			see: pods, want: "log-x web-5f6-abcde web-api-77-abcde",
		},
		"SoldOut": {why: "Names may hold asterisks.", change: suppose.SoldOut(suppose.Offers{Shape: "sma*"}), see: offers, want: "small gone, large 190000"},
		"Price":   {why: "A price is set where it is asked for.", change: suppose.Price(suppose.Offers{Shape: "large", Zone: "a"}, 5), see: offers, want: "small 100000, large 5"},
		"NoOffer": {why: "A slip of the finger changes nothing in silence.", change: suppose.SoldOut(suppose.Offers{Shape: "small", Zone: "b"}), err: "no catalogue sells small,b, but small elsewhere or of another capacity type"},
		"NoZone":  {why: "Nor does one in a pattern's zone.", change: suppose.Price(suppose.Offers{Shape: "sma*", Zone: "b"}, 5), err: "no catalogue sells sma*,b, but sma* elsewhere or of another capacity type"},
		"Slip":    {why: "A slip is pointed out.", change: suppose.SoldOut(suppose.Offers{Shape: "lareg"}), err: "no catalogue sells lareg: did you mean large?"},
		"Abroad": {
			why: "A workload of the name may be of another namespace.", change: suppose.Scale(suppose.Workload{Kind: "deployment", Namespace: "default", Name: "web"}, 3),
			err: "there is no pod of deployment default/web to make more of: did you mean deployment/d/web?",
		},
		"NotWeb": {
			why: "One of a similar name is offered,", change: suppose.Scale(suppose.Workload{Kind: "deployment", Namespace: "d", Name: "web-aip"}, 3),
			err: "did you mean deployment/d/web-api?",
		},
		"NoPods": {
			why: "and what has no pods may come as a file.", change: suppose.Scale(suppose.Workload{Kind: "statefulset", Namespace: "d", Name: "queue"}, 3),
			err: "add it with its replicas as a file",
		},
		"NotN": {why: "Of a node as well.", change: suppose.WithoutNode("n2-clami"), err: `no node or claim "n2-clami": did you mean n2-claim?`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := cluster(t)
			before := w.Digest()
			next, err := suppose.Apply(w, tc.change)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\n%v, want %q", tc.why, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := tc.see(next); got != tc.want {
				t.Errorf("%s\n%s, want %s", tc.why, got, tc.want)
			}
			if w.Digest() != before {
				t.Error("the World that was asked about has changed")
			}
		})
	}
}

func offers(w *world.World) string {
	var out []string
	for _, s := range w.Catalogs()[0].Shapes {
		said := fmt.Sprint(s.Offers[0].Price)
		if s.Offers[0].Gone {
			said = "gone"
		}
		out = append(out, s.Name+" "+said)
	}
	return strings.Join(out, ", ")
}

// What is cheaper or dearer, what moves and what is bought is told, and
// nothing is where nothing differs.
func TestCompare(t *testing.T) {
	w := cluster(t)
	without, err := suppose.Apply(w, suppose.WithoutNode("n1"))
	if err != nil {
		t.Fatal(err)
	}
	if d := suppose.Compare(decide(w), decide(w)); !d.Same {
		t.Errorf("a World differs from itself:\n%s", d.Text(true))
	}
	d := suppose.Compare(decide(w), decide(without))
	got := d.Text(true)
	want := `                             before        after
  cost an hour              $0.2000      $0.1000  -$0.1000
  nodes                           2            1  -1
  waiting pods                    0            3  +3
n1 → n2: d/db-0, d/web-5f6-abcde, d/web-api-77-abcde
n1 → not there: d/log-x
`
	if diff := cmp.Diff(want, got); diff != "" || d.Same {
		t.Errorf("same %v, -want +got\n%s", d.Same, diff)
	}
}
