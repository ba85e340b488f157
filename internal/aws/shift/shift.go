// Package shift knows which zones the cluster's traffic is shifted away from: machines that were launched there would be of no use.
package shift

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/clock"
)

// fresh is how long an answer is used, and a failure to get one.
const fresh = 30 * time.Second

// Config is what a Watch is given at the start.
type Config struct {
	Client  *arczonalshift.Client
	Cluster func(context.Context) (string, error) // its ARN; empty if EKS does not know it
	Off     bool                                  // shifts are not asked for
	Lasting *say.Lasting
	Now     clock.Now
}

// Watch asks the zonal shift service about one cluster. It is safe for several goroutines.
type Watch struct {
	cfg  Config
	away *answers.Memory[[]string] // by cluster
}

// New returns a Watch that has asked nothing yet.
func New(c Config) *Watch {
	return &Watch{cfg: c, away: answers.New(c.Now, answers.Rules[[]string]{Stale: answers.Ever})}
}

// Known is Away, where an error is logged once and what was known last counts.
func (w *Watch) Known(ctx context.Context) []string {
	out, err := w.Away(ctx)
	w.cfg.Lasting.Note("zonal shifts", "those that were known last count", err)
	return out
}

// Away returns the ids of the zones that the cluster's traffic is shifted away
// from, sorted; none where that is not asked for, or where EKS does not know the
// cluster. A shift that cannot be asked about goes on as it was known, and the
// error says so beside it.
func (w *Watch) Away(ctx context.Context) ([]string, error) {
	if w.cfg.Off {
		return nil, nil
	}
	cluster, err := w.cfg.Cluster(ctx)
	if err != nil || cluster == "" {
		return nil, err
	}
	return w.away.Get(ctx, cluster, func(ctx context.Context) ([]string, time.Duration, error) {
		out, err := w.cfg.Client.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(cluster)})
		switch {
		case refusal.Gone(err): // the cluster is not registered: nothing can be shifted
			return nil, fresh, nil
		case err != nil:
			return nil, fresh, refusal.Wrap("ask for zonal shifts of "+cluster, err)
		}
		return read(out, w.cfg.Now()), fresh, nil
	})
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
