package consolidatable_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/consolidatable"
)

// How long a machine has been quiet is told by its claim, so that a controller which begins again knows it (D-2).
func TestStates(t *testing.T) {
	const at = 1_000_000
	seconds := func(s int64) *int64 { return &s }
	pool, old := world.PoolID{Kind: world.NodePool, Name: "p"}, world.PoolID{Kind: world.Provisioner, Name: "p"}
	tests := map[string]struct {
		why   string
		pool  world.Pool
		claim world.Claim
		pod   *world.Pod
		want  *consolidatable.State
		again int64
	}{
		"Quiet": {
			why:  "No pod has come or gone for long enough; whether it runs any does not matter.",
			pool: world.Pool{ID: pool, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, claim: world.Claim{LastPodEvent: at - 30},
			pod: &world.Pod{}, want: &consolidatable.State{Since: at - 30, Consolidatable: true},
		},
		"Stirred": {
			why:  "A pod came a moment ago.",
			pool: world.Pool{ID: pool, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, claim: world.Claim{LastPodEvent: at - 10},
			want: &consolidatable.State{Since: at - 10}, again: at + 20,
		},
		"Young": {
			why:  "Before its first pod the time counts from when it could take pods.",
			pool: world.Pool{ID: pool, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, claim: world.Claim{InitializedAt: at - 29},
			want: &consolidatable.State{Since: at - 29}, again: at + 1,
		},
		"Never": {why: "Its pool wants none to go.", pool: world.Pool{ID: pool}, want: &consolidatable.State{}},
		"Empty": {
			why:  "The Provisioner's time runs from now.",
			pool: world.Pool{ID: old, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, want: &consolidatable.State{Empty: true, TTL: 30 * time.Second},
		},
		"InUse": {
			why:  "A pod runs there.",
			pool: world.Pool{ID: old, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, pod: &world.Pod{}, want: &consolidatable.State{TTL: 30 * time.Second},
		},
		"Daemons": {
			why:  "What runs everywhere does not count.",
			pool: world.Pool{ID: old, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, pod: &world.Pod{DaemonSet: "log"}, want: &consolidatable.State{Empty: true, TTL: 30 * time.Second},
		},
		"Going": {
			why:  "It goes already.",
			pool: world.Pool{ID: old, Disruption: world.PoolDisruption{EmptyAfter: seconds(30)}}, claim: world.Claim{Deleting: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			c := tc.claim
			c.Name, c.Pool, c.Initialized = "c", tc.pool.ID, true
			errs := []error{b.SetPool(tc.pool), b.SetClaim(c), b.SetNode(world.Node{Name: "n", Claim: "c", Pool: tc.pool.ID})}
			if tc.pod != nil {
				tc.pod.Name, tc.pod.Node = "pod", "n"
				errs = append(errs, b.SetPod(*tc.pod))
			}
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]consolidatable.State{}
			if tc.want != nil {
				tc.want.Claim, tc.want.Node = "c", "n"
				want["c"] = *tc.want
			}
			got, again := consolidatable.States(b.Snapshot(at))
			if diff := cmp.Diff(want, got); diff != "" || again != tc.again {
				t.Errorf("%s again at %d, want %d; -want +got\n%s", tc.why, again, tc.again, diff)
			}
		})
	}
}
