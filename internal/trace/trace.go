// Package trace reports how pods came to run as OpenTelemetry spans: what they waited for, and how long.
//
// A trace is one pod, from when it was made until it runs; its id is the pod's
// uid, so that it is found by that. Spans are made once the pod runs, of what
// was seen of it and of the conditions of its claim, and sent by OTLP over HTTP
// as JSON. A caller that reports a pod never waits: what cannot be sent in time is
// dropped and counted.
package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Pod is how one pod came to run.
type Pod struct {
	Namespace, Name, UID string
	Node                 string

	Created time.Time
	Seen    time.Time // to wait for a place; zero: it did not wait
	Decided time.Time // zero: it was never decided about
	Bound   time.Time
	Running time.Time
}

// Claim is how the machine came about that a pod runs on. Times that are not known are zero.
type Claim struct {
	Name, Pool, Shape, Zone, CapacityType string

	Created, Launched, Registered, Initialized time.Time
}

// Attribute is one word on a span.
type Attribute struct{ Key, Value string }

// Span is a time with a name. Parent is empty for the whole.
type Span struct {
	Trace, ID, Parent string // in hexadecimal digits
	Name              string
	Begin, End        time.Time
	Attributes        []Attribute
}

// ID is the id of a pod's trace: its uid without hyphens, or a digest of what is no such uid.
func ID(uid string) string {
	id := strings.ToLower(strings.ReplaceAll(uid, "-", ""))
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == 16 && strings.Trim(id, "0") != "" {
		return id
	}
	sum := sha256.Sum256([]byte(uid))
	return hex.EncodeToString(sum[:16])
}

// idOf is the id of a span of a trace.
func idOf(trace, name string) string {
	sum := sha256.Sum256([]byte(trace + "/" + name))
	return hex.EncodeToString(sum[:8])
}

// Spans are those of a pod: the whole, and in it what it waited for, one after the other. What was over before the pod
// waited for it is left out, as of a machine that was there. The API server says when the pod was made; where its clock
// is ahead of ours, the pod begins when it was first seen.
func Spans(p Pod, c *Claim) []Span {
	trace := ID(p.UID)
	for _, t := range []time.Time{p.Seen, p.Bound, p.Running} {
		if !t.IsZero() && t.Before(p.Created) {
			p.Created = t
		}
	}
	root := Span{Trace: trace, ID: idOf(trace, "pod"), Name: "pod", Begin: p.Created, End: p.Running, Attributes: []Attribute{
		{"k8s.pod.name", p.Name}, {"k8s.namespace.name", p.Namespace}, {"k8s.pod.uid", p.UID}, {"k8s.node.name", p.Node},
	}}
	out := []Span{root}
	at := p.Created
	add := func(name string, until time.Time, about ...Attribute) {
		if until.IsZero() || !until.After(at) {
			return
		}
		if until.After(p.Running) {
			until = p.Running
		}
		out = append(out, Span{Trace: trace, ID: idOf(trace, name), Parent: root.ID, Name: name, Begin: at, End: until, Attributes: about})
		at = until
	}
	if !p.Seen.IsZero() {
		add("observe", p.Seen)
		add("decide", p.Decided)
		if c != nil {
			machine := attributes(*c)
			out[0].Attributes = append(out[0].Attributes, machine...)
			bound := func(t time.Time) time.Time {
				if t.After(p.Bound) { // it was bound before that
					return time.Time{}
				}
				return t
			}
			add("ask", bound(c.Created), machine...)
			add("launch", bound(c.Launched), machine...)
			add("register", bound(c.Registered), machine...)
			add("initialize", bound(c.Initialized), machine...)
		}
	}
	add("bind", p.Bound, Attribute{"k8s.node.name", p.Node})
	add("start", p.Running)
	return out
}

func attributes(c Claim) (out []Attribute) {
	for _, a := range []Attribute{
		{"karpenter.nodeclaim", c.Name}, {"karpenter.nodepool", c.Pool}, {"host.type", c.Shape}, {"cloud.availability_zone", c.Zone}, {"karpenter.capacity_type", c.CapacityType},
	} {
		if a.Value != "" {
			out = append(out, a)
		}
	}
	return out
}
