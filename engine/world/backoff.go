package world

import (
	"cmp"
	"slices"
	"strings"
)

// BackoffID says which purchases wait: those for a pod, those of a pool and
// its template, or, where both are named, those of the pool for the pod.
type BackoffID struct {
	Pod      Key        `json:"pod,omitzero"`  // zero: for every pod
	Pool     PoolID     `json:"pool,omitzero"` // zero: of every pool
	Template TemplateID `json:"template,omitempty"`
}

// Backoff is a run of purchases that came to nothing, one after the other. It
// keeps the next one from being made for a while, longer each time.
type Backoff struct {
	BackoffID
	Times int    `json:"times"`         // in a row
	Last  int64  `json:"last"`          // when the last one came to nothing, in seconds since 1970
	Why   string `json:"why,omitempty"` // what became of it
}

// The waits, in seconds: twice as long after each purchase that came to
// nothing, up to the longest.
const (
	// Settling is the first wait. It is also how long kube-scheduler gets to
	// place a pod on a node that was made for it and has just become ready.
	Settling = 10
	// LongestWait bounds the waits, so that a cause that was mended without any
	// object showing it costs half an hour at most.
	LongestWait = 30 * 60
)

// Until is when the next purchase may be made. The first failure of a pool
// that is not about one pod holds nothing up: it may be chance, and pods that
// it was not for have not failed yet.
func (b *Backoff) Until() int64 {
	n := b.Times
	if b.Pod == (Key{}) {
		n--
	}
	if n < 1 {
		return b.Last
	}
	return b.Last + min(int64(Settling)<<min(n-1, 20), LongestWait)
}

// Holds reports whether the purchase has to wait at a time.
func (b *Backoff) Holds(at int64) bool { return at < b.Until() }

// Wants reports whether a pod waits for a place: it is not bound, and
// kube-scheduler found none for it.
func (p *Pod) Wants() bool {
	return p.Node == "" && p.Waiting && !p.Done && !p.Terminating && !p.Ending && p.DaemonSet == "" && !p.Static
}

// Serves reports whether a pod runs on the machine that is neither a
// DaemonSet's nor the node's own.
func (p *Place) Serves() bool {
	return slices.ContainsFunc(p.Pods, func(x *Pod) bool { return x.DaemonSet == "" && !x.Static })
}

// Reserved reports whether the machine has been left to the pods that it was
// bought for. Where others have taken room on it, it is they, and not the
// machine, that keep those from running there.
func (p *Place) Reserved() bool {
	if p.Claim == nil {
		return false
	}
	return !slices.ContainsFunc(p.Pods, func(x *Pod) bool {
		return x.DaemonSet == "" && !x.Static && !slices.Contains(p.Claim.Pods, x.Key)
	})
}

// Refusing says that the machine is ready and a pod that it was bought for does not run there.
func (p *Place) Refusing() string { return "node " + p.Name() + " is ready and has not taken the pod" }

func compareBackoff(a, b BackoffID) int {
	return cmp.Or(compareKey(a.Pod, b.Pod), ComparePool(a.Pool, b.Pool), strings.Compare(string(a.Template), string(b.Template)))
}

func checkBackoff(b Backoff) error {
	switch {
	case b.Pod == (Key{}) && b.Pool == (PoolID{}):
		return refuse("back-off", "pod and pool", "are both empty")
	case b.Times < 1:
		return refuse("back-off", "times", "is %d, want at least 1", b.Times)
	}
	return nil
}
