// Package world holds all that a decision depends on: the items of a cluster, a Builder that collects them, and the immutable World it gives.
//
// Items are plain values, one for each object of the cluster or the cloud.
// They hold no secrets, no environment, no arguments and no user data.
package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
)

// PoolID names a pool: a NodePool and a Provisioner may share a name.
type PoolID struct {
	Kind string `json:"kind"` // NodePool or Provisioner
	Name string `json:"name"`
}

// The kinds of pool.
const (
	NodePool    = "NodePool"
	Provisioner = "Provisioner"
)

// TemplateID is the digest of all that decides what a pool's machines are like:
// class reference, class spec and kubelet settings.
type TemplateID string

// For names the catalogue of the template as one pool sees it, where that is
// not what the cloud says: its price or capacity was corrected.
func (t TemplateID) For(p PoolID) TemplateID {
	return t + "@" + TemplateID(p.Kind) + "/" + TemplateID(p.Name)
}

// Key names an item that lives in a namespace.
type Key struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String writes the key as namespace/name.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// Compare orders keys by namespace, then name.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Namespace, o.Namespace), strings.Compare(k.Name, o.Name))
}

// Selector picks pods or namespaces by label. The zero Selector picks nothing.
type Selector struct {
	Some bool      `json:"some,omitempty"` // false picks nothing, whatever Set says
	Set  label.Set `json:"set,omitempty"`  // empty picks everything
}

// Match reports whether the selector picks something with these labels.
func (s Selector) Match(labels map[string]string) bool { return s.Some && s.Set.Match(labels) }

// Pod is one pod, running or waiting.
type Pod struct {
	Key
	UID      string            `json:"uid,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Created  int64             `json:"created,omitempty"` // seconds since 1970
	Started  int64             `json:"started,omitempty"`
	Priority int32             `json:"priority,omitempty"`
	Requests amount.List       `json:"requests,omitempty"` // what the scheduler counts, init containers, sidecars and overhead included, and pods: 1

	Node          string   `json:"node,omitempty"`                  // where it is bound
	Nominated     string   `json:"nominated,omitempty"`             // where the scheduler wants it after preemption, or we after planning
	Promised      bool     `json:"promised,omitempty"`              // we nominated it, not kube-scheduler
	Planned       string   `json:"planned,omitempty"`               // the node or claim where our last plan has it
	Waiting       bool     `json:"waiting,omitempty"`               // unbound, and kube-scheduler found no place
	Gated         bool     `json:"gated,omitempty"`                 // waits for its scheduling gates
	Virtual       bool     `json:"virtual,omitempty" digest:"fold"` // no pod: it holds room for a CapacityBuffer
	Ending        bool     `json:"ending,omitempty" digest:"fold"`  // its Job is over, is suspended or is being deleted, and it is to be deleted for that
	Gates         []string `json:"gates,omitempty" digest:"fold"`   // the names of its scheduling gates, where they are known
	Done          bool     `json:"done,omitempty"`                  // succeeded or failed: takes no room
	Terminating   bool     `json:"terminating,omitempty"`
	Ends          int64    `json:"ends,omitempty"`     // when its grace is over, once it is terminating
	Preempts      bool     `json:"preempts,omitempty"` // may push lower priorities away
	ReadyToServe  bool     `json:"readyToServe,omitempty"`
	StatefulOwner bool     `json:"statefulOwner,omitempty"`

	DaemonSet string `json:"daemonSet,omitempty"` // owner, if that is a DaemonSet
	Static    bool   `json:"static,omitempty"`    // run by the node itself

	NodeSelector label.Set     `json:"nodeSelector,omitempty"`
	NodeTerms    []NodeTerm    `json:"nodeTerms,omitempty"` // required node affinity: one of them; empty means anywhere
	NodeWishes   []NodeWish    `json:"nodeWishes,omitempty"`
	Tolerations  []Toleration  `json:"tolerations,omitempty"`
	Spread       []Spread      `json:"spread,omitempty"`
	PodTerms     []PodTerm     `json:"podTerms,omitempty"` // pod affinity and anti-affinity, required and preferred
	Ports        []Port        `json:"ports,omitempty"`
	Volumes      []Volume      `json:"volumes,omitempty"`
	Claims       bool          `json:"claims,omitempty"`                // asks for devices by resource claim, and these are not planned for
	Devices      []DeviceClaim `digest:"fold" json:"devices,omitempty"` // what its resource claims ask for, where that is planned for
	Disruption   PodDisruption `json:"disruption,omitzero"`
	Problems     []string      `json:"problems,omitempty"` // why the object cannot be planned for as it stands
}

// Moves reports whether the pod's controller recreates it elsewhere when its machine goes.
func (p *Pod) Moves() bool {
	return p.DaemonSet == "" && !p.Static && (!p.Terminating || p.StatefulOwner)
}

// Plannable reports whether it can be known where the pod would run: resource claims and contradictions keep it from that.
func (p *Pod) Plannable() bool {
	return !p.Claims && len(p.Problems) == 0 && !slices.ContainsFunc(p.Devices, func(c DeviceClaim) bool { return c.Problem.Code != "" })
}

// PodDisruption is what a pod says about being moved.
type PodDisruption struct {
	Forbidden    bool  `json:"forbidden,omitempty"`    // do-not-disrupt, for good
	ForbiddenFor int64 `json:"forbiddenFor,omitempty"` // do-not-disrupt for so many seconds from its start
	Alone        bool  `json:"alone,omitempty"`        // it has no controller to recreate it once it is evicted
	DeletionCost int32 `json:"deletionCost,omitempty"`
	Grace        int64 `json:"grace,omitempty"`    // terminationGracePeriodSeconds
	Critical     bool  `json:"critical,omitempty"` // of a system-critical priority class
}

// NodeTerm is one alternative of required node affinity. Both parts must hold.
type NodeTerm struct {
	Labels label.Set          `json:"labels,omitempty"`
	Name   *label.Requirement `json:"name,omitempty"` // matchFields: metadata.name
}

// NodeWish is a preferred node affinity.
type NodeWish struct {
	Weight int      `json:"weight"` // 1-100
	Term   NodeTerm `json:"term"`
}

// Toleration accepts taints.
type Toleration struct {
	Key    string `json:"key,omitempty"` // empty with Exists: every key
	Exists bool   `json:"exists,omitempty"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect,omitempty"` // empty: every effect
}

// Taint keeps pods off a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// The effects of a taint.
const (
	NoSchedule       = "NoSchedule"
	PreferNoSchedule = "PreferNoSchedule"
	NoExecute        = "NoExecute"
)

// Spread is a topology spread constraint; matchLabelKeys are already in its selector.
type Spread struct {
	Key          string   `json:"key"`
	MaxSkew      int      `json:"maxSkew"`
	MinDomains   int      `json:"minDomains,omitempty"`
	Soft         bool     `json:"soft,omitempty"` // ScheduleAnyway
	Selector     Selector `json:"selector"`
	AnyNode      bool     `json:"anyNode,omitempty"`               // nodeAffinityPolicy Ignore
	HonourTaints bool     `json:"honourTaints,omitempty"`          // nodeTaintsPolicy Honor
	Default      bool     `digest:"fold" json:"default,omitempty"` // of the scheduler's configuration, not the pod's own
	Source       string   `json:"source,omitempty"`                // the constraint as JSON, for messages
}

// PodTerm is a pod affinity or anti-affinity term; matchLabelKeys and mismatchLabelKeys are already in its selector.
type PodTerm struct {
	Anti       bool     `json:"anti,omitempty"`
	Weight     int      `json:"weight,omitempty"` // 0: required
	Key        string   `json:"key"`
	Selector   Selector `json:"selector"`
	Namespaces []string `json:"namespaces,omitempty"` // the pod's own is already in it where the API means it
	Within     Selector `json:"within,omitzero"`      // namespaces by label, besides those named
}

// KeepsAway reports whether the term keeps pods away that it matches: required anti-affinity.
func (t PodTerm) KeepsAway() bool { return t.Anti && t.Weight == 0 }

// Port is a host port.
type Port struct {
	IP       string `json:"ip,omitempty"` // empty: every address
	Protocol string `json:"protocol"`
	Port     int32  `json:"port"`
}

// Volume is one volume of a pod that binds it to places or takes one of a node's few attachments.
type Volume struct {
	ID     string      `json:"id"`               // equal for pods that share it
	Driver string      `json:"driver,omitempty"` // CSI driver whose attach limit counts
	Places []label.Set `json:"places,omitempty"` // one of them must hold; empty: anywhere

	// Pending volumes are made in the zone of the first of their pods that is bound, and stay there.
	Pending bool `json:"pending,omitempty"`

	// OneNode volumes are attached to one node at a time: of the pods that share one, those on other nodes do not start.
	OneNode bool `digest:"fold" json:"oneNode,omitempty"`

	// OnePod volumes are used by one pod at a time, on whatever node: kube-scheduler binds no other.
	OnePod bool `digest:"fold" json:"onePod,omitempty"`
}

// Exclusive reports whether pods that share the volume cannot run wherever each finds room.
func (v Volume) Exclusive() bool { return v.OneNode || v.OnePod }

// DriverLimit is how many volumes of a driver a node can attach.
type DriverLimit struct {
	Driver string `json:"driver"`
	Count  int    `json:"count"`
}

// DaemonSet is the pod that every node it selects will run.
type DaemonSet struct {
	Key
	Pod Pod `json:"pod"`
}

// Node is one machine that has joined.
type Node struct {
	Name         string            `json:"name"`
	ProviderID   string            `json:"providerID,omitempty"`
	Created      int64             `json:"created,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []Taint           `json:"taints,omitempty"`
	Capacity     amount.List       `json:"capacity,omitempty"`
	Allocatable  amount.List       `json:"allocatable,omitempty"`
	Cordoned     bool              `json:"cordoned,omitempty"`
	Ready        bool              `json:"ready,omitempty"`
	Unready      int64             `json:"unready,omitempty"` // since when it is not ready, in seconds since 1970; 0: it is, or that is not known
	Deleting     bool              `json:"deleting,omitempty"`
	DevicesLost  []DevicePool      `digest:"fold" json:"devicesLost,omitempty"` // pools of devices that cannot be had now
	DoNotDisrupt bool              `json:"doNotDisrupt,omitempty"`
	Devices      []Device          `digest:"fold" json:"devices,omitempty"` // in the order in which kube-scheduler tries them
	Pool         PoolID            `json:"pool,omitzero"`                   // zero: of no pool
	Claim        string            `json:"claim,omitempty"`
	VolumeLimits []DriverLimit     `json:"volumeLimits,omitempty"`
	Moves        []Move            `json:"moves,omitempty"` // where its pods are to go, once it is to go itself
}

// Move is pods that are to go to a machine.
type Move struct {
	To   string `json:"to"` // a node
	Pods []Key  `json:"pods"`
}

// Claim is one machine asked for, from intent to end.
type Claim struct {
	Name          string            `json:"name"`
	UID           string            `json:"uid,omitempty"`
	Created       int64             `json:"created,omitempty"`
	Pool          PoolID            `json:"pool,omitzero"`
	Template      TemplateID        `json:"template,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Requirements  label.Set         `json:"requirements,omitempty"` // instance-type In […] is its menu
	Requests      amount.List       `json:"requests,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
	StartupTaints []Taint           `json:"startupTaints,omitempty"`
	Booked        amount.List       `json:"booked,omitempty"` // capacity of the planned type, for limits until launched
	ProviderID    string            `json:"providerID,omitempty"`
	Node          string            `json:"node,omitempty"`
	Capacity      amount.List       `json:"capacity,omitempty"` // once launched
	Allocatable   amount.List       `json:"allocatable,omitempty"`
	Launched      bool              `json:"launched,omitempty"`
	Registered    bool              `json:"registered,omitempty"`
	Initialized   bool              `json:"initialized,omitempty"`
	InitializedAt int64             `json:"initializedAt,omitempty"`
	Deleting      bool              `json:"deleting,omitempty"`
	Failed        bool              `json:"failed,omitempty"`                  // the launch failed: it is no capacity
	DrainEnds     bool              `digest:"fold" json:"drainEnds,omitempty"` // in any case, whatever blocks evictions: terminationGracePeriod
	Drivers       []string          `digest:"fold" json:"drivers,omitempty"`   // of dynamic resources: it is not complete before they have published its devices
	ExpireAfter   int64             `json:"expireAfter,omitempty"`             // seconds; 0: never
	LastPodEvent  int64             `json:"lastPodEvent,omitempty"`
	Pods          []Key             `json:"pods,omitempty"`     // that the last plan sends there
	Drifted       string            `json:"drifted,omitempty"`  // how it is no longer what its pool asks for
	Change        string            `json:"change,omitempty"`   // what differs there, for a person
	Going         string            `json:"going,omitempty"`    // why it is to go, once that is decided
	Replaces      []string          `json:"replaces,omitempty"` // claims of machines that go once it is complete
}

// Pool is what machines may be bought, how many, and how they are given back.
type Pool struct {
	ID            PoolID            `json:"id"`
	Weight        int32             `json:"weight,omitempty"`
	Template      TemplateID        `json:"template,omitempty"`
	Requirements  label.Set         `json:"requirements,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
	StartupTaints []Taint           `json:"startupTaints,omitempty"`
	Limits        amount.List       `json:"limits,omitempty"`
	Replicas      *int              `json:"replicas,omitempty"` // static pools
	Deleting      bool              `json:"deleting,omitempty"`
	Devices       []DeviceTemplate  `digest:"fold" json:"devices,omitempty"` // that its machines will have
	Charge        *money.Micro      `digest:"later" json:"charge,omitempty"` // what each of its nodes counts beside its price, an hour; nil: what others count
	NotReady      string            `json:"notReady,omitempty"`              // why it may not be used now
	Unhealthy     bool              `json:"unhealthy,omitempty"`             // machines of it were launched lately and did not register
	Disruption    PoolDisruption    `json:"disruption,omitzero"`
}

// PoolDisruption is how a pool's machines are given back. Seconds; a nil wait is never.
type PoolDisruption struct {
	EmptyAfter  *int64   `json:"emptyAfter,omitempty"` // give back a node that has been empty so long
	MoveAfter   *int64   `json:"moveAfter,omitempty"`  // consolidate a node that has been quiet so long
	Balanced    bool     `json:"balanced,omitempty"`   // moves must be worth their disruption
	Level       string   `json:"level,omitempty"`      // how much has to be saved for a move; none: as for all pools
	Budgets     []Budget `json:"budgets,omitempty"`    // none: no bound
	ExpireAfter *int64   `json:"expireAfter,omitempty"`
	DrainWithin *int64   `json:"drainWithin,omitempty"` // terminationGracePeriod
}

// Budget bounds how many of a pool's machines may be going at once.
type Budget struct {
	Nodes    string   `json:"nodes"` // "5" or "10%", rounded up
	Reasons  []string `json:"reasons,omitempty"`
	Schedule string   `json:"schedule,omitempty"` // cron, UTC
	Duration int64    `json:"duration,omitempty"` // seconds
}

// Guard is a PodDisruptionBudget.
type Guard struct {
	Key
	Selector       Selector `json:"selector"`
	Allowed        int      `json:"allowed"`
	Never          bool     `json:"never,omitempty"`          // it allows no disruption even while all of its pods are healthy
	UnhealthyLeave bool     `json:"unhealthyLeave,omitempty"` // unhealthyPodEvictionPolicy AlwaysAllow
}

// Namespace is a namespace's labels, which pod terms may select by.
type Namespace struct {
	Name   string            `json:"name"`
	Going  bool              `json:"going,omitempty"` // it is being deleted, and all in it with it
	Labels map[string]string `json:"labels,omitempty"`
}

// Catalog is what one template's machines can be: immutable once published.
type Catalog struct {
	Template TemplateID `json:"template"`
	Version  string     `json:"version,omitempty"`
	Region   string     `json:"region,omitempty"`
	Currency string     `json:"currency,omitempty"` // empty means USD/h; a World that mixes currencies is refused
	Shapes   []Shape    `json:"shapes"`
}

// Priced is the catalogue without offers of which no price is known, and without shapes that have no others.
func (c Catalog) Priced() Catalog {
	unpriced := func(o Offer) bool { return o.Unpriced }
	if !slices.ContainsFunc(c.Shapes, func(s Shape) bool { return slices.ContainsFunc(s.Offers, unpriced) }) {
		return c
	}
	shapes := make([]Shape, 0, len(c.Shapes))
	for _, s := range c.Shapes {
		if slices.ContainsFunc(s.Offers, unpriced) {
			if s.Offers = slices.DeleteFunc(slices.Clone(s.Offers), unpriced); len(s.Offers) == 0 {
				continue
			}
		}
		shapes = append(shapes, s)
	}
	c.Shapes = shapes
	return c
}

// Shape is one type of machine.
type Shape struct {
	Name         string        `json:"name"`
	Capacity     amount.List   `json:"capacity"`
	Overhead     amount.List   `json:"overhead,omitempty"`
	Labels       label.Set     `json:"labels,omitempty"` // what its nodes' labels can be; a label it can never have is DoesNotExist
	VolumeLimits []DriverLimit `json:"volumeLimits,omitempty"`
	Overlaid     bool          `json:"overlaid,omitempty"` // its capacity was added to
	Offers       []Offer       `json:"offers"`
}

// Exotic reports whether the shape is bare metal or has GPUs or accelerators:
// such a machine is bought only where no other would do. What counts is what
// counts for Karpenter.
func (s *Shape) Exotic() bool {
	for _, r := range s.Labels {
		if strings.HasSuffix(r.Key, "/instance-size") && !r.Not && slices.ContainsFunc(r.Values, func(v string) bool { return strings.Contains(v, "metal") }) {
			return true
		}
	}
	for _, name := range [...]string{"nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi"} {
		if s.Capacity.Value(name) > 0 {
			return true
		}
	}
	return false
}

// Allocatable is what pods may use of the shape.
func (s *Shape) Allocatable() amount.List { return s.Capacity.Minus(s.Overhead).Floor() }

// Room is how much of one resource that is.
func (s *Shape) Room(name string) int64 {
	return max(amount.Plus(s.Capacity.Value(name), -s.Overhead.Value(name)), 0)
}

// Offer is a shape on sale in one zone in one way.
type Offer struct {
	Zone         string            `json:"zone"`
	CapacityType string            `json:"capacityType"`
	Price        money.Micro       `json:"price"` // millionths of the currency an hour
	Synthetic    bool              `json:"synthetic,omitempty"`
	Unpriced     bool              `digest:"fold" json:"unpriced,omitempty"` // nothing is known of its price: no World has it, until somebody says one
	Overlaid     bool              `json:"overlaid,omitempty"`               // its price was corrected
	Gone         bool              `json:"gone,omitempty"`                   // not available now
	Refused      int               `json:"refused,omitempty"`                // how many in a thousand that asked for it lately did not get it
	Reservation  string            `json:"reservation,omitempty"`
	Count        int               `json:"count,omitempty"`  // machines left in the reservation
	Labels       map[string]string `json:"labels,omitempty"` // further labels, such as the zone's id
}

// Device is one device of a machine, as a driver of dynamic resources has published it or a pool states it.
type Device struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool,omitempty"` // none where a pool of machines states it
	Name   string `json:"name"`
	Taken  bool   `json:"taken,omitempty"` // a resource claim has it

	Meets      []string          `json:"meets,omitempty"`      // the selections that accept it, in order
	Withheld   []string          `json:"withheld,omitempty"`   // those that would, but for a taint or for what is not planned for, in order
	Attributes map[string]string `json:"attributes,omitempty"` // those that some constraint compares, by qualified name, with their types
}

// Accepted reports whether the selection accepts the device.
func (d *Device) Accepted(selection string) bool { return has(d.Meets, selection) }

// Barred reports whether the selection would accept the device, and it cannot be had.
func (d *Device) Barred(selection string) bool { return has(d.Withheld, selection) }

func has(sorted []string, s string) bool {
	_, found := slices.BinarySearchFunc(sorted, s, strings.Compare)
	return found
}

// DevicePool is a pool of devices of a node of which none can be had now.
type DevicePool struct {
	Driver string      `json:"driver"`
	Name   string      `json:"name"`
	Code   reason.Code `json:"code"`
	Detail string      `json:"detail,omitempty"`
}

// DeviceTemplate is the devices that machines to come will have, of those that meet its requirements.
type DeviceTemplate struct {
	Requirements label.Set `json:"requirements,omitempty"`
	Devices      []Device  `json:"devices,omitempty"`
}

// DeviceClaim is what a pod asks for by one resource claim.
type DeviceClaim struct {
	Key
	Shared    bool            `json:"shared,omitempty"`    // it was not made for this pod alone: others may name it
	Allocated bool            `json:"allocated,omitempty"` // it has devices
	Node      string          `json:"node,omitempty"`      // whose they are
	Requests  []DeviceRequest `json:"requests,omitempty"`
	Alike     []DeviceAlike   `json:"alike,omitempty"`
	Problem   DeviceProblem   `json:"problem,omitzero"` // why it cannot be planned for
}

// DeviceProblem says why a resource claim cannot be planned for.
type DeviceProblem struct {
	Code   reason.Code `json:"code,omitempty"`
	Detail string      `json:"detail,omitempty"`
	Hint   string      `json:"hint,omitempty"`
}

// DeviceRequest asks for devices by the first of its options that can be had.
type DeviceRequest struct {
	Name    string         `json:"name"`
	Options []DeviceOption `json:"options"`
}

// DeviceOption is so many devices of one selection.
type DeviceOption struct {
	Name      string `json:"name,omitempty"` // of a subrequest
	Selection string `json:"selection"`      // which devices are accepted, by a digest of all that says so
	Class     string `json:"class"`
	All       bool   `json:"all,omitempty"` // that the machine has, and at least one
	Count     int    `json:"count,omitempty"`
}

// DeviceAlike wants all devices of some requests to have one value of an attribute.
type DeviceAlike struct {
	Attribute string   `json:"attribute"`
	Requests  []string `json:"requests,omitempty"` // by name, or with that of the option; none: all
}

// On reports whether the claim has devices of the node of that name.
func (c *DeviceClaim) On(node string) bool { return c.Allocated && c.Node == node }
