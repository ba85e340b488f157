package observe

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/world"
)

// ConditionBackOff is True on pools whose last nodes came to nothing, so that
// the next one is waited with.
const (
	ConditionBackOff = "BackOff"
	ReasonBackOff    = "NodesCameToNothing"
)

const (
	backoffHead = "the last %d nodes asked for came to nothing, the last at %s: "
	backoffTail = "; the next is asked for at %s at the earliest"
)

// BackoffText writes a pool's back-off for its condition, from which a process
// that comes after this one reads it again.
func BackoffText(b *world.Backoff) string {
	return fmt.Sprintf(backoffHead, b.Times, stamp(b.Last)) + b.Why + fmt.Sprintf(backoffTail, stamp(b.Until()))
}

func stamp(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }

// BackoffOf is the back-off that a pool's conditions hold, without its pool; nil if they hold none.
func BackoffOf(conditions []metav1.Condition) *world.Backoff {
	for _, c := range conditions {
		if c.Type != ConditionBackOff || c.Status != metav1.ConditionTrue {
			continue
		}
		head, why, ok := strings.Cut(c.Message, "Z: ")
		if !ok {
			return nil
		}
		b := &world.Backoff{Why: why}
		var last string
		if n, err := fmt.Sscanf(head+"Z: ", backoffHead, &b.Times, &last); err != nil && n < 2 {
			return nil
		}
		at, err := time.Parse(time.RFC3339, strings.TrimSuffix(last, ":"))
		if err != nil || b.Times < 1 {
			return nil
		}
		b.Last = at.Unix()
		if i := strings.LastIndex(why, "; the next is asked for at "); i >= 0 {
			b.Why = why[:i]
		}
		return b
	}
	return nil
}
