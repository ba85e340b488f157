package peer_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/test/oracle"
)

// TestPlanner holds that the peer's machines join as it knows them: what its
// claims were launched for is counted on, so that a race comes to an end with
// every pod bound, and most of them on machines of the first decision.
func TestPlanner(t *testing.T) {
	scheduler, err := oracle.Converse(t.Context(), t.Output())
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.End)
	r := oracle.Race{Cluster: oracle.Settle(1, 60), Planner: &peer.Planner{Options: peer.Options{Workers: 1, Cap: time.Minute}}, Oracle: scheduler, Within: 30}
	f, err := r.Run(1)
	if err != nil {
		t.Fatal(err)
	}
	if f.Placed != 60 || f.Homeless > 0 || 2*f.Stranded > f.Placed || f.Cost < f.Planned() {
		t.Errorf("%d of 60 pods placed, %d without a node, %d stranded; planned for %d, bought for %d", f.Placed, f.Homeless, f.Stranded, f.Planned(), f.Cost)
	}
}
