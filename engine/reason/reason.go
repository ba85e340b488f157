// Package reason holds the codes and trees of reasons by which the engine refuses.
//
// A refusal is data: programs switch on the code, people read the tree, tests
// compare both. Nothing in the engine formats an error.
package reason

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
)

// Code says what kind of objection it is. Codes are stable: they appear in JSON, metrics and docs.
type Code string

// The codes, from the pod's own faults to the pool's and the cloud's.
const (
	NoPlace        Code = "no-place"         // no node, planned node or pool can take the pod
	NoPool         Code = "no-pool"          // there is no pool that may be used
	Invalid        Code = "invalid"          // the object contradicts itself
	Gated          Code = "scheduling-gated" // the pod waits for its scheduling gates
	Taint          Code = "taint"            // a taint is not tolerated
	Label          Code = "label"            // a required label is absent or has another value
	Resource       Code = "resource"         // too little of a resource
	Port           Code = "host-port"        // a host port is taken
	Spread         Code = "topology-spread"  // the skew would become too large
	Affinity       Code = "pod-affinity"     // no matching pod in the domain
	AntiAffinity   Code = "pod-anti-affinity"
	Volume         Code = "volume"          // a volume cannot be reached from there, or is missing
	VolumeLimit    Code = "volume-limit"    // too many volumes of a driver
	Limit          Code = "limit"           // the pool's limit is used up
	MinValues      Code = "min-values"      // too few distinct values for flexibility
	NoShape        Code = "no-shape"        // no instance type satisfies all demands at once
	NoOffer        Code = "no-offer"        // a type fits, but is not sold there now
	Reservation    Code = "reservation"     // the reservation is used up
	NotReady       Code = "not-ready"       // the pool, its class or the node is not ready
	Deleting       Code = "deleting"        // it is going away
	Unschedulable  Code = "unschedulable"   // the node is cordoned
	Claims         Code = "resource-claims" // resource claims are not planned for, or this one is not there yet
	BackOff        Code = "back-off"        // the last purchases came to nothing: the next one waits
	UnitMixUp      Code = "unit-mix-up"     // the amount looks like a wrong unit
	Steps          Code = "steps"           // the budget of work was used up first
	PreferenceLost Code = "preference"      // a soft term was given up
)

// The codes of what keeps a pod from the devices that its resource claims ask for.
const (
	DeviceClass     Code = "device-class"       // there is no such DeviceClass
	DeviceRequest   Code = "device-request"     // a kind of request that is not planned for
	DeviceSelector  Code = "device-selector"    // a CEL selector cannot be compiled or evaluated
	DeviceCount     Code = "too-many-devices"   // more than a claim can have
	NoDevice        Code = "no-device"          // no device is accepted, or too few are
	DeviceTaken     Code = "devices-taken"      // too few of those that are accepted are free
	DeviceElsewhere Code = "devices-elsewhere"  // the claim has devices of another node
	PoolIncomplete  Code = "devices-incomplete" // a driver has not published all slices of a pool
	PoolInvalid     Code = "devices-invalid"    // slices of a pool contradict each other
)

// The codes of what keeps a machine from being given back.
const (
	InUse        Code = "in-use"                // pods run there that need it
	DoNotDisrupt Code = "do-not-disrupt"        // a pod or the node forbids it
	Guarded      Code = "pod-disruption-budget" // a pod may not be evicted now
	Alone        Code = "no-controller"         // a pod has no controller to recreate it
	Promised     Code = "promised"              // a waiting pod is on its way there
	Starting     Code = "not-initialized"       // the machine is not complete yet
	Foreign      Code = "not-a-pools"           // no pool asked for it
	Static       Code = "static-pool"           // its pool keeps a fixed number
	Policy       Code = "policy"                // its pool gives nothing back this way
	TooSoon      Code = "consolidate-after"     // its pool waits until it has been quiet for a while
	Budget       Code = "disruption-budget"     // as many go already as its pool allows at once
	Empty        Code = "empty"                 // nothing runs there: it goes by itself
	NotCheaper   Code = "not-cheaper"           // what its pods need instead costs as much
	SavesLittle  Code = "saves-too-little"      // less than the moves are worth, or than is worth mentioning
	Inflexible   Code = "spot-flexibility"      // too few cheaper types to move from spot to spot
	Unbalanced   Code = "unbalanced"            // it saves a smaller share than it disrupts
	AfterOthers  Code = "after-others"          // what goes before it has to be done first
)

// Why is one objection: what kind, to what, in detail, and what is behind it.
type Why struct {
	Code    Code   `json:"code"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Hint    string `json:"hint,omitempty"` // what would make it fit
	Causes  []*Why `json:"causes,omitempty"`
	About   About  `json:"-"` // the detail as data
}

// About is what an objection is about, for those that make sentences of it: they
// read what it says and never the detail. It is not kept, so that decisions of
// earlier releases can be compared with how they would be made now.
type About struct {
	Key    string       // of the taint or the topology, or the resource of the limit
	Value  string       // of the taint, or the domain of the topology
	Effect string       // of the taint
	Clash  *label.Clash // of the label
}

// Has reports whether w or anything behind it carries the code.
func (w *Why) Has(c Code) bool {
	if w == nil {
		return false
	}
	if w.Code == c {
		return true
	}
	for _, cause := range w.Causes {
		if cause.Has(c) {
			return true
		}
	}
	return false
}

// String writes the tree, one objection a line, causes indented below.
func (w *Why) String() string {
	var b strings.Builder
	w.write(&b, 0)
	return strings.TrimSuffix(b.String(), "\n")
}

func (w *Why) write(b *strings.Builder, depth int) {
	if w == nil {
		return
	}
	b.WriteString(strings.Repeat("  ", depth))
	if w.Subject != "" {
		b.WriteString(w.Subject + ": ")
	}
	b.WriteString(string(w.Code))
	if w.Detail != "" {
		b.WriteString(" (" + w.Detail + ")")
	}
	if w.Hint != "" {
		b.WriteString(" → " + w.Hint)
	}
	b.WriteByte('\n')
	for _, c := range w.Causes {
		c.write(b, depth+1)
	}
}

// Brief is the tree without the long list of all that was asked of instance
// types, where what is behind it says what they lack.
func (w *Why) Brief() *Why {
	if w == nil {
		return nil
	}
	out := *w
	if w.Code == NoShape && len(w.Causes) > 0 {
		out.Detail = "no instance type will do"
	}
	out.Causes = make([]*Why, len(w.Causes))
	for i, c := range w.Causes {
		out.Causes[i] = c.Brief()
	}
	return &out
}

// Unnamed is the objection without its subject, for texts on the subject itself.
func (w *Why) Unnamed() *Why {
	out := *w
	out.Subject = ""
	return &out
}

// Said writes the tree on one line in words, without codes where there are
// details: it is for conditions and events, which carry a code of their own.
func (w *Why) Said() string {
	if w == nil {
		return ""
	}
	text := w.Detail
	if text == "" && len(w.Causes) == 0 {
		text = strings.ReplaceAll(string(w.Code), "-", " ")
	}
	var parts []string
	for _, c := range w.Causes {
		parts = append(parts, c.Said())
	}
	switch said := strings.Join(parts, "; "); {
	case text == "":
		text = said
	case said != "":
		text += " (" + said + ")"
	}
	if w.Subject != "" {
		text = w.Subject + ": " + text
	}
	if w.Hint != "" {
		text += " → " + w.Hint
	}
	return text
}

// Line writes the tree on one line, causes in brackets.
func (w *Why) Line() string {
	if w == nil {
		return ""
	}
	head := &Why{Code: w.Code, Subject: w.Subject, Detail: w.Detail, Hint: w.Hint}
	line := head.String()
	if len(w.Causes) == 0 {
		return line
	}
	parts := make([]string, len(w.Causes))
	for i, c := range w.Causes {
		parts[i] = c.Line()
	}
	return line + " [" + strings.Join(parts, "; ") + "]"
}
