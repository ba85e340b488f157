package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// giveUp deletes claims that cannot be had, so that their pods are planned again.
func (r *Reconciler) giveUp(ctx context.Context, claims []*v1.NodeClaim, cause error) error {
	reason, event := enact.InsufficientCapacity, "InsufficientCapacityError"
	if cloud.CodeOf(cause) == cloud.NotReady {
		reason, event = enact.ClassNotReady, "NodeClassNotReady"
	}
	if len(claims) > 0 {
		log.FromContext(ctx).Error(cause, "failed launching nodeclaims", "NodeClaims", names(claims))
	}
	return parallel.Each(parallel.Writes, claims, func(_ int, c *v1.NodeClaim) error {
		r.Events.Warning(c, event, "%s", short(cause.Error()))
		r.Cluster.Ended(c.Name, short(cause.Error()), cloud.CodeOf(cause) == cloud.Capacity)
		return r.Enact.Release(ctx, c, reason)
	})
}

// names is how the log names claims, of which there may be many.
func names(claims []*v1.NodeClaim) string {
	const maxNamed = 5
	var out []string
	for _, c := range claims[:min(len(claims), maxNamed)] {
		out = append(out, c.Name)
	}
	text := strings.Join(out, ", ")
	if more := len(claims) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return text
}

// failed says in the claims' conditions why what was begun at began has given them no machine yet.
func (r *Reconciler) failed(ctx context.Context, claims []*v1.NodeClaim, began time.Time, cause error) error {
	reason := v1.ReasonLaunchFailed
	if e, ok := errors.AsType[*cloud.Error](cause); ok && e.Reason != "" {
		reason = e.Reason
	}
	now := r.Now()
	return parallel.Each(parallel.Writes, claims, func(_ int, c *v1.NodeClaim) error {
		text := short(cause.Error())
		if code := cloud.CodeOf(cause); code == cloud.Throttled || code == cloud.Unknown {
			// It is tried again and again: for how long, a person wants to know at once.
			text += "; tried since " + r.trials.Failed(string(c.UID), began).UTC().Format(time.RFC3339)
		}
		news := !slices.ContainsFunc(c.Status.Conditions, func(had metav1.Condition) bool {
			return had.Type == v1.ConditionLaunched && had.Reason == reason && had.Message == text
		})
		next, err := loop.PatchStatus(ctx, r.Client, c, func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionLaunched, reason, text, now)
		})
		if err == nil {
			r.Cluster.Wrote(next)
		}
		if err == nil && news {
			r.Events.Warning(c, "LaunchDelayed", "%s", text)
		}
		return client.IgnoreNotFound(err)
	})
}

// short cuts a message to what a condition shows. Half a character would come back as another, and the condition be news each time.
func short(s string) string {
	const maxMessageBytes = 300
	if s = strings.TrimSpace(s); len(s) > maxMessageBytes {
		return strings.ToValidUTF8(s[:maxMessageBytes], "") + "..."
	}
	return s
}
