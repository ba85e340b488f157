// Package shift knows which zones the cluster's traffic is shifted away from: machines that were launched there would be of no use.
package shift

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"

	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// fresh is how long an answer is used.
const fresh = 30 * time.Second

// Watch asks the zonal shift service about one cluster. It is safe for several goroutines.
type Watch struct {
	client *arczonalshift.Client
	now    clock.Now

	lock keylock.Locks // guards what follows
	at   time.Time
	away []string
	err  error // why these are those that were known before
}

// New returns a Watch over a client.
func New(c *arczonalshift.Client, now clock.Now) *Watch { return &Watch{client: c, now: now} }

// Away returns the ids of the zones that a cluster's traffic is shifted away
// from, sorted. A shift that cannot be asked about goes on as it was known, and
// the error says so beside it.
func (w *Watch) Away(ctx context.Context, cluster string) ([]string, error) {
	done, err := w.lock.Lock(ctx, "")
	if err != nil {
		return nil, err
	}
	defer done()
	now := w.now()
	if !w.at.IsZero() && now.Sub(w.at) < fresh {
		return w.away, w.err
	}
	w.at, w.err = now, nil
	out, err := w.client.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(cluster)})
	switch {
	case refusal.Gone(err): // the cluster is not registered: nothing can be shifted
		w.away = nil
		return nil, nil
	case err != nil:
		w.err = refusal.Wrap("ask for zonal shifts of "+cluster, err)
		return w.away, w.err
	}
	w.away = read(out, now)
	return w.away, nil
}

// read takes the zones out of an answer: shifts that people started, and those
// that AWS did.
func read(out *arczonalshift.GetManagedResourceOutput, now time.Time) []string {
	var away []string
	for _, s := range out.ZonalShifts {
		over := s.AppliedStatus == shifttypes.AppliedStatusNotApplied || s.ExpiryTime != nil && !s.ExpiryTime.After(now)
		if !over {
			away = append(away, aws.ToString(s.AwayFrom))
		}
	}
	for _, s := range out.Autoshifts {
		if s.AppliedStatus == shifttypes.AutoshiftAppliedStatusApplied {
			away = append(away, aws.ToString(s.AwayFrom))
		}
	}
	slices.Sort(away)
	return slices.Compact(away)
}
