// Package dryrun has EC2 say, by dry runs, whether it would launch machines of a class.
package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Subject is what is tried: a class, and what of it a trial depends on.
type Subject struct {
	Class   nodeclass.Class
	Profile string
	Images  []string // ids
	Groups  []string
}

// Of has EC2 say, by dry runs, whether it would launch machines of a class
// whose parts have all been found. Only a missing permission is the class' fault;
// what EC2 does not say for another reason does not keep anything from launching.
func (t *Trials) Of(ctx context.Context, s Subject) (Verdict, error) {
	return t.verdicts.Get(ctx, s.key(), func(ctx context.Context) (Verdict, time.Duration, error) {
		v, holds := t.try(ctx, s.Class, s.Profile)
		if ctx.Err() != nil {
			holds = 0 // the caller gave up, which says nothing of the class
		}
		return v, holds, nil
	})
}

// key names all that a trial depends on.
func (s Subject) key() string {
	h := fnv.New64a()
	fmt.Fprint(h, s.Class.Ref, s.Class.Hash, s.Class.Tags, s.Profile)
	for _, id := range append(slices.Clone(s.Images), s.Groups...) {
		fmt.Fprint(h, id)
	}
	return fmt.Sprint(h.Sum64())
}

// try rehearses a launch and judges the answers. It returns how long the verdict holds, too.
func (t *Trials) try(ctx context.Context, c nodeclass.Class, profile string) (Verdict, time.Duration) {
	s, err := t.cfg.Launcher.Single(ctx, c)
	if err != nil || !s.Found {
		return untried(cmp.Or(err, errors.New("nothing that the class allows is on offer now"))), triedAgain
	}
	in, err := s.Requests(profile)
	if err != nil {
		verdict := untried(err)
		verdict.Err, _ = errors.AsType[*cloud.Error](err)
		return verdict, triedAgain
	}
	var verdict Verdict
	holds := triedFor
	for _, a := range t.Rehearse(ctx, in) {
		if a.Err == nil {
			continue
		}
		switch wrapped := refusal.Wrap(in.What+": "+a.Check, a.Err); cloud.CodeOf(wrapped) {
		case cloud.Unauthorised:
			verdict.Err = cloud.Errorf(cloud.Unauthorised, a.Reason, "%w: %s", wrapped, refusal.Advice(wrapped))
			return verdict, triedAgain
		case cloud.Capacity:
			// that is the account's, and of this moment
		case cloud.Throttled, cloud.Unknown:
			return untried(wrapped), triedAgain
		default:
			verdict.Without, holds = wrapped.Error(), triedAgain
		}
	}
	return verdict, holds
}

// untried is the verdict where EC2 gave none.
func untried(err error) Verdict { return Verdict{Without: "not tried: " + err.Error()} }
