// Package podevent writes to claims when a pod last came to their node or went from it.
package podevent

import (
	"time"

	"github.com/tenon-sh/tenon/internal/cluster"
)

// window is how often a claim is written to at most.
const window = 5 * time.Second

// NodeOf names the node to which a pod came, or from which it goes; empty if
// neither happened. What is there when this process starts is no event: its
// start must not make every node look busy.
func NodeOf(c cluster.Change) string {
	was, is := c.Was, c.Is
	switch {
	case c.Kind != cluster.Pod || was == nil:
		return ""
	case is == nil && was.DaemonSet == "" && !was.Done && !was.Terminating:
		return was.Node
	case is == nil || is.DaemonSet != "" || is.Node == "":
		return ""
	case was.Node == "", is.Done && !was.Done, is.Terminating && !was.Terminating:
		return is.Node
	}
	return ""
}

// Due is how long after now an event may be written to a claim that was last
// written to at last. One from the future was dated before the clock was set back.
func Due(last, now time.Time) time.Duration {
	if last.After(now) {
		return 0
	}
	return max(last.Add(window).Sub(now), 0)
}
