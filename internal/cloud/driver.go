// Package cloud is the seam to providers of machines: a concrete Cloud with everything shared, over a small Driver that each provider implements.
//
// Retries, caching, budgets of calls and metrics live in Cloud. A Driver speaks
// to its provider and translates its errors into codes. What every Driver must
// promise is written as a conformance suite in internal/cloudtest.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Driver sells machines. Every method may be called from several goroutines.
type Driver interface {
	// Catalog returns what machines of the template can be, available or not.
	Catalog(ctx context.Context, t Template) (world.Catalog, error)
	// Launch carries out orders. It returns one Outcome for each, in order. The
	// same token with the same order gives the same machines, however often.
	Launch(ctx context.Context, orders []Order) []Outcome
	// Terminate ends machines. One error for each; nil means gone or going.
	Terminate(ctx context.Context, ids []MachineID) []error
	// List returns every machine of this cluster that is not gone, with its tags.
	List(ctx context.Context) ([]Machine, error)
	// Find returns those of the machines with these provider ids that the provider
	// knows, whatever their tags say, and why List does not show them. It may know
	// one for a while after it has ended. An id that the provider could not have
	// given belongs to no machine.
	Find(ctx context.Context, providerIDs []string) ([]Machine, error)
	// Complete returns machines that List or Find returned with what Launch returns
	// beside that: what follows from their template, such as labels, annotations
	// and capacity. With an error it fills in what it can without the template.
	Complete(ctx context.Context, t Template, machines []Machine) ([]Machine, error)
	// Drift says why a machine is no longer what its template asks for.
	Drift(ctx context.Context, m Machine, t Template) (Drifted, error)
}

// Drifted is why a machine is no longer what its template asks for; the zero value is that it still is.
type Drifted struct {
	Reason  string // of the condition, such as AMIDrift
	Changed string // what differs, for a person
}

// ClassRef names the object that describes a template's machines. It is opaque outside the driver.
type ClassRef struct {
	Group, Kind, Name string
}

// Template is what a pool asks its machines to be: a class, and the pool's own kubelet settings if it has any.
type Template struct {
	ID      world.TemplateID
	Class   ClassRef
	Kubelet []byte // JSON of the pool's kubelet settings; nil if the class has them
}

// MachineID is the provider's name for a machine, such as i-0123456789abcdef0.
type MachineID string

// Order asks for Count equal machines at once.
type Order struct {
	Token        string // idempotency: derived from the claims and the attempt, never re-cut
	Template     Template
	Pool         world.PoolID
	Count        int
	Requirements label.Set             // which offers will do: instance types, zones, capacity types
	Menu         []string              // acceptable shapes, cheapest first
	Prices       map[Offer]money.Micro // what offers cost for this pool, where that is not what the cloud says: it is to prefer what is cheapest by these
	Requests     amount.List           // what every machine must hold
	Overlaid     amount.List           // what it must hold of resources that only NodeOverlays know
	Labels       map[string]string     // for the machine's kubelet to register with
	Taints       []world.Taint         // likewise, startup taints among them
	Tags         map[string]string
	Relaxed      bool // minValues were lowered
}

// Offer names a shape on sale in one zone in one way.
type Offer struct{ Shape, Zone, CapacityType string }

// Outcome is what became of an order: machines, and errors for what is missing.
type Outcome struct {
	Machines []Machine // sorted by id
	Refused  []Offer   // those that were asked for and sold out
	Failed   []Failure // each answer by which an offer gave no machine, for metrics
	Err      error     // why fewer than Count came; nil if all did
}

// Failure is an answer by which the provider gave no machine.
type Failure struct {
	Zone, ZoneID, CapacityType string
	Reason                     string // CamelCase
}

// Machine is one machine of this cluster as the provider knows it.
type Machine struct {
	ID           MachineID
	ProviderID   string // as the node will say it
	Name         string // the node's name, if it is known before the node joins
	Shape        string
	Zone         string
	ZoneID       string // the zone's name that is the same in all accounts; empty: it is not known
	CapacityType string
	Image        string
	Reservation  string
	Subnet       string   // where it is, and what guards it: compared when looking for drift
	Groups       []string // sorted
	Placement    string   // id of the group that it is placed in
	Launched     time.Time
	Ending       bool
	Order        string            // token of the order that made it
	Labels       map[string]string // what the node's labels will be, as far as the provider decides them
	Annotations  map[string]string // for the claim: hashes by which drift is found later
	Capacity     amount.List
	Allocatable  amount.List
	Tags         map[string]string
	Ended        bool   // only from Find: it was there and is no more
	Unlisted     string // only from Find: why List does not show it, such as a missing tag; empty: it does
	Foreign      string // only from Find: its owner if that is not this cluster, such as an Auto Scaling group; empty: there is no other
}

// Code says what kind of error it is, whatever the provider.
type Code string

// The codes.
const (
	Unknown      Code = "unknown"
	Capacity     Code = "capacity"     // sold out: plan again without these offers
	Throttled    Code = "throttled"    // later
	Gone         Code = "gone"         // no such machine
	Unauthorised Code = "unauthorised" // a permission is missing
	Invalid      Code = "invalid"      // the request can never succeed as it is
	NotReady     Code = "not-ready"    // the class is not ready
)

// Error carries a code, the reason a condition shows, and the provider's own error.
type Error struct {
	Code   Code
	Reason string // CamelCase, for conditions
	Err    error
}

// Error returns the provider's own words.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the provider's error.
func (e *Error) Unwrap() error { return e.Err }

// Errorf builds an Error.
func Errorf(c Code, reason, format string, args ...any) *Error {
	return &Error{Code: c, Reason: reason, Err: fmt.Errorf(format, args...)}
}

// CodeOf returns the code of err: Unknown for an error without one, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Unknown
}
