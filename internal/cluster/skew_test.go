package cluster_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// What we have just made is new, whatever the API server's clock says of it; what
// was there before us is as old as that clock says.
func TestClaimsAreDatedByOneClock(t *testing.T) {
	server := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why    string
		ahead  time.Duration // our clock, when the claim is made
		after  time.Duration // our clock, when it is looked at
		watch  bool          // it was not us who made it
		launch bool          // it has a machine already
		want   time.Duration // its date, after the API server's
	}{
		"Same":   {"Both clocks say the same.", time.Second, time.Minute, false, false, 0},
		"Ahead":  {"It is not an hour old.", time.Hour, time.Hour + time.Minute, false, false, time.Hour},
		"Behind": {"It is of the future, and young for longer.", -time.Hour, -time.Hour, false, false, 0},
		"Back":   {"Our clock is right again, and so is the date.", time.Hour, time.Minute, false, false, 0},
		"Found":  {"It may well be an hour old.", time.Hour, time.Hour, true, false, 0},
		"Older":  {"We wrote to it after a restart, before any watch showed it.", time.Hour, time.Hour, false, true, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := server.Add(tc.ahead)
			c := cluster.New(func() time.Time { return now })
			o := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", ResourceVersion: "1", CreationTimestamp: metav1.NewTime(server)}}
			if tc.launch {
				o.Status.ProviderID = "test:///i-1"
			}
			if tc.watch {
				c.SetClaim(o)
			} else {
				c.Wrote(o)
			}
			now = server.Add(tc.after)
			o.ResourceVersion = "2"
			c.SetClaim(o)
			if got := c.World().Place("c").Claim.Created - server.Unix(); got != int64(tc.want.Seconds()) {
				t.Errorf("it is dated %d seconds after the API server's date, want %v: %s", got, tc.want, tc.why)
			}
		})
	}
}

// A wait that began by a clock that was set back since is not longer than any other.
func TestABackoffOfTheFutureBeginsNow(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := cluster.New(func() time.Time { return now })
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	c.SetNodePool(pool)
	id := world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: "general"}}
	c.Hold(world.Backoff{BackoffID: id, Times: 3, Last: now.Add(time.Hour).Unix()})
	c.World()
	now = now.Add(time.Second)
	backoffs := c.World().Backoffs()
	if len(backoffs) != 1 || backoffs[0].Times != 3 {
		t.Fatalf("back-offs: %+v", backoffs)
	}
	if last := backoffs[0].Last; last > now.Unix() {
		t.Errorf("it began %d seconds from now", last-now.Unix())
	}
}
