// Package podevent writes to claims when a pod last came to their node or went from it.
package podevent

import (
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// A claim is written to once in so long at most. The longer one is still well
// below the time for which a node must have been quiet, so that what came or went
// meanwhile is written before anything could be decided without it.
const (
	window     = 10 * time.Second
	restless   = 5 * time.Second // where a pool lets nodes go that have hardly been quiet
	longEnough = 2 * window
)

// Window is how long after an event the next one is written to a claim of a pool, nil: of none.
func Window(p *world.Pool) time.Duration {
	if p == nil {
		return window
	}
	for _, after := range []*int64{p.Disruption.EmptyAfter, p.Disruption.MoveAfter} {
		if after != nil && time.Duration(*after)*time.Second < longEnough {
			return restless
		}
	}
	return window
}

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
func Due(last, now time.Time, window time.Duration) time.Duration {
	if last.After(now) {
		return 0
	}
	return max(last.Add(window).Sub(now), 0)
}
