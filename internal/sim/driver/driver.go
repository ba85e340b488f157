// Package driver sells the machines of a simulated market in the process itself, without any wire protocol.
//
// It is for tests of what lies above the seam. It reads no class: every
// template is the same plain Linux machine.
package driver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// The tags by which machines are known again.
const (
	tagCluster = "eks:eks-cluster-name"
	tagOrder   = "karpenter.sh/order"
	tagPool    = "karpenter.sh/nodepool"
)

// soldOutFor is how long an offer that was sold out is not offered.
const soldOutFor = 3 * time.Minute

// Driver is a cloud.Driver over a market.
type Driver struct {
	market  *market.Market
	cluster string
	image   string
	group   string

	buying  sync.Mutex // one order at a time
	mu      sync.Mutex
	soldOut map[offer]time.Time // until when
	round   int                 // grows with what is sold out
}

type offer struct{ shape, zone, capacityType string }

// New returns a driver for the machines of one cluster. The market needs a
// subnet in every zone that machines are to be launched in.
func New(m *market.Market, cluster string) *Driver {
	d := &Driver{market: m, cluster: cluster, soldOut: map[offer]time.Time{}}
	d.image = m.AddImage(market.Image{Name: "plain linux", Arch: "x86_64"}).ID
	d.group = m.AddSecurityGroup(market.SecurityGroup{VPC: vpc(m), Name: "nodes of " + cluster}).ID
	return d
}

// Market returns a market of some types of a region of the catalogue, or of all, with a subnet in each of its zones.
func Market(r *catalog.Region, only ...string) *market.Market {
	types := slices.DeleteFunc(market.TypesOf(r), func(t market.Type) bool { return len(only) > 0 && !slices.Contains(only, t.Name) })
	m := market.New(market.Config{Region: r.Name, Account: "123456789012", Zones: market.ZonesOf(r), Types: types, Now: clock.Wall})
	for i, z := range m.Zones() {
		m.AddSubnet(market.Subnet{VPC: "vpc-1", Zone: z.Name, Range: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))})
	}
	return m
}

func vpc(m *market.Market) string {
	for _, s := range m.Subnets() {
		return s.VPC
	}
	return ""
}

// Launch implements cloud.Driver.
func (d *Driver) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	for i, o := range orders {
		if err := ctx.Err(); err != nil {
			out[i].Err = err
			continue
		}
		out[i] = d.launch(o)
	}
	return out
}

// launch carries out one order. Spot that turns out to be sold out is followed
// by on-demand where that will do. The market has no wire, so the tag of the order
// is all that protects it.
func (d *Driver) launch(o cloud.Order) cloud.Outcome {
	d.buying.Lock()
	defer d.buying.Unlock()
	template, err := d.template(o)
	if err != nil {
		return cloud.Outcome{Err: translate(err)}
	}
	// What was bought under this token comes back even where the market has
	// forgotten the request: its machines carry the token.
	if again := d.bought(o.Token); len(again) > 0 {
		return short(o, again, errors.New("the order was sent before and got no more"))
	}
	why := errors.New("no offer of the order is left")
	var refused []cloud.Offer
	for range 3 {
		capacityType, overrides := d.overrides(o)
		if len(overrides) == 0 {
			break
		}
		result, err := d.send(o, template, capacityType, overrides)
		if err != nil {
			return cloud.Outcome{Err: translate(err)}
		}
		for _, e := range result.Errors {
			gone := offer{e.Override.Type, d.zoneOf(e.Override.Subnet), e.CapacityType}
			if d.remember(gone, e.Code) {
				refused = append(refused, cloud.Offer{Shape: gone.shape, Zone: gone.zone, CapacityType: gone.capacityType})
			}
			why = errors.New(e.Message)
		}
		if got := d.bought(o.Token); len(got) > 0 || capacityType == label.OnDemand {
			out := short(o, got, why)
			out.Refused = refused
			return out
		}
	}
	out := short(o, nil, why)
	out.Refused = refused
	return out
}

func (d *Driver) send(o cloud.Order, template market.TemplateRef, capacityType string, overrides []market.Override) (market.FleetResult, error) {
	tags := market.Tags{tagCluster: d.cluster, tagOrder: o.Token, tagPool: o.Pool.Name}
	maps.Copy(tags, o.Tags)
	onDemand, spot := market.LowestPrice, market.PriceCapacityOptimized
	if len(o.Prices) > 0 {
		onDemand, spot = market.Prioritized, market.CapacityOptimizedPrioritized
	}
	return d.market.CreateFleet(market.FleetRequest{
		Total: o.Count, DefaultType: capacityType,
		OnDemandStrategy: onDemand, SpotStrategy: spot,
		Configs: []market.FleetConfig{{Template: template, Overrides: overrides}},
		Tags:    []market.TagSpec{{Kind: "instance", Tags: tags}},
	})
}

// short is the outcome of an order that got these machines.
func short(o cloud.Order, got []cloud.Machine, why error) cloud.Outcome {
	out := cloud.Outcome{Machines: got}
	if len(got) < o.Count {
		if why == nil {
			why = errors.New("the market gave no reason")
		}
		out.Err = &cloud.Error{Code: cloud.Capacity, Reason: "InsufficientCapacity", Err: why}
	}
	return out
}

// bought are the machines of an order that are there, by id.
func (d *Driver) bought(token string) []cloud.Machine {
	var out []cloud.Machine
	for _, m := range d.machines() {
		if m.Order == token && !m.Ending {
			out = append(out, d.complete(m))
		}
	}
	return out
}

// template is the launch template whose machines register as an order wants.
func (d *Driver) template(o cloud.Order) (market.TemplateRef, error) {
	data := userData(d.cluster, o)
	sum := sha256.Sum256([]byte(data))
	ref := market.TemplateRef{Name: "tenon-" + hex.EncodeToString(sum[:8]), Version: "$Latest"}
	_, err := d.market.CreateTemplate(market.NewTemplate{Name: ref.Name, Data: market.TemplateData{
		Image: d.image, Groups: []string{d.group}, UserData: base64.StdEncoding.EncodeToString([]byte(data)),
	}})
	if refused, ok := errors.AsType[*market.Error](err); ok && refused.Code == market.InvalidLaunchTemplateNameExists {
		return ref, nil
	}
	return ref, err
}

// userData is what tells the machine how to register.
func userData(cluster string, o cloud.Order) string {
	var labels, taints []string
	for k, v := range o.Labels {
		labels = append(labels, k+"="+v)
	}
	slices.Sort(labels)
	for _, t := range append([]world.Taint{{Key: "karpenter.sh/unregistered", Effect: world.NoExecute}}, o.Taints...) {
		taints = append(taints, fmt.Sprintf("{key: %q, value: %q, effect: %s}", t.Key, t.Value, t.Effect))
	}
	return fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: %q, apiServerEndpoint: "", certificateAuthority: "", cidr: 10.96.0.0/16}
  kubelet:
    config: {registerWithTaints: [%s]}
    flags: [%q]
--//--
`, cluster, strings.Join(taints, ", "), "--node-labels="+strings.Join(labels, ","))
}

// overrides are the offers of an order that are left, of one way of buying:
// spot where that will do, because it costs less, unless by the order's own
// prices it does not.
func (d *Driver) overrides(o cloud.Order) (string, []market.Override) {
	ways := []string{label.Spot, label.OnDemand}
	if q, ok := o.Requirements.Find(label.CapacityType); ok {
		ways = slices.DeleteFunc(ways, func(w string) bool { return !q.Has(w) })
	}
	zones, zoned := o.Requirements.Find(label.Zone)
	least := func(offers []market.Override) float64 {
		return slices.MinFunc(offers, func(a, b market.Override) int { return cmp.Compare(a.Priority, b.Priority) }).Priority
	}
	var best []market.Override
	kind := ""
	for _, way := range ways {
		var out []market.Override
		for _, s := range d.market.Subnets() {
			if zoned && !zones.Has(s.Zone) {
				continue
			}
			for _, shape := range o.Menu {
				t := d.market.Type(shape)
				if t == nil || !slices.Contains(t.Zones, s.Zone) || way == label.Spot && t.SpotFrom[s.Zone] == 0 || d.gone(offer{shape, s.Zone, way}) {
					continue
				}
				out = append(out, d.override(o, s, t, way))
			}
		}
		if len(out) > 0 && (best == nil || least(out) < least(best)) {
			kind, best = way, out
		}
	}
	return kind, best
}

// override is a type in a subnet, at the order's own price where it has any.
func (d *Driver) override(o cloud.Order, s market.Subnet, t *market.Type, way string) market.Override {
	out := market.Override{Type: t.Name, Subnet: s.ID}
	if len(o.Prices) == 0 {
		return out
	}
	price, own := o.Prices[cloud.Offer{Shape: t.Name, Zone: s.Zone, CapacityType: way}]
	if !own {
		if price = t.OnDemand; way == label.Spot {
			price = t.SpotFrom[s.Zone]
		}
	}
	out.Ranked, out.Priority = true, float64(price)
	return out
}

func (d *Driver) zoneOf(subnet string) string {
	for _, s := range d.market.Subnets() {
		if s.ID == subnet {
			return s.Zone
		}
	}
	return ""
}

// remember notes that an offer is sold out, and reports whether that is what the code says.
func (d *Driver) remember(o offer, code string) bool {
	switch code {
	case market.InsufficientInstanceCapacity, market.UnfulfillableCapacity, market.MaxSpotInstanceCountExceeded, market.VcpuLimitExceeded:
	default:
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.soldOut[o] = d.market.Now().Add(soldOutFor)
	d.round++
	return true
}

func (d *Driver) gone(o offer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	until, ok := d.soldOut[o]
	if ok && !d.market.Now().Before(until) {
		delete(d.soldOut, o)
		d.round++
		return false
	}
	return ok
}

// Terminate implements cloud.Driver.
func (d *Driver) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	errs := make([]error, len(ids))
	for i, id := range ids {
		_, err := d.market.Terminate([]string{string(id)})
		errs[i] = translate(err)
	}
	return errs
}

// List implements cloud.Driver.
func (d *Driver) List(ctx context.Context) ([]cloud.Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.machines(), nil
}

// Find implements cloud.Driver.
func (d *Driver) Find(ctx context.Context, providerIDs []string) ([]cloud.Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []cloud.Machine
	for _, i := range d.market.Instances() {
		if !slices.Contains(providerIDs, ProviderID(i)) {
			continue
		}
		m := d.machine(i)
		m.Ended = i.State == market.Terminated
		if owner := i.Tags[tagCluster]; owner != d.cluster {
			m.Unlisted = fmt.Sprintf("its tag %s=%s is missing", tagCluster, d.cluster)
			if owner != "" {
				m.Foreign = "cluster " + owner
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// Complete implements cloud.Driver.
func (d *Driver) Complete(ctx context.Context, _ cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	out := make([]cloud.Machine, len(machines))
	for i, m := range machines {
		out[i] = d.complete(m)
	}
	return out, ctx.Err()
}

func (d *Driver) machines() []cloud.Machine {
	var out []cloud.Machine
	for _, i := range d.market.Instances() {
		if i.Tags[tagCluster] == d.cluster && i.State != market.Terminated {
			out = append(out, d.machine(i))
		}
	}
	slices.SortFunc(out, func(a, b cloud.Machine) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

func (d *Driver) machine(i market.Instance) cloud.Machine {
	return cloud.Machine{
		ID: cloud.MachineID(i.ID), ProviderID: ProviderID(i), Name: i.DNS, Shape: i.Type, Zone: i.Zone, CapacityType: i.CapacityType,
		Image: i.Image, Reservation: i.Reservation, Launched: i.Launched, Ending: i.State.Gone(), Order: i.Tags[tagOrder], Tags: maps.Clone(i.Tags),
	}
}

// complete fills in what follows from a machine's type.
func (d *Driver) complete(m cloud.Machine) cloud.Machine {
	m.Labels = nil
	if t := d.market.Type(m.Shape); t != nil {
		s := d.shape(t)
		m.Capacity, m.Allocatable = s.Capacity, s.Allocatable()
		m.Labels = labelsOf(s)
	}
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	m.Labels[label.Zone], m.Labels[label.CapacityType] = m.Zone, m.CapacityType
	return m
}

// ProviderID is what the node of a machine says it is.
func ProviderID(i market.Instance) string { return "aws:///" + i.Zone + "/" + i.ID }

// Drift implements cloud.Driver: its machines never drift.
func (d *Driver) Drift(context.Context, cloud.Machine, cloud.Template) (cloud.Drifted, error) {
	return cloud.Drifted{}, nil
}

// translate gives a market's error the seam's code.
func translate(err error) error {
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*market.Error](err)
	if !ok {
		return err
	}
	code := cloud.Unknown
	switch refused.Code {
	case market.InvalidInstanceIDNotFound:
		code = cloud.Gone
	case market.RequestLimitExceeded:
		code = cloud.Throttled
	case market.UnauthorizedOperation:
		code = cloud.Unauthorised
	case market.InvalidParameterValue, market.InvalidParameterCombination, market.MissingParameter:
		code = cloud.Invalid
	}
	return &cloud.Error{Code: code, Reason: refused.Code, Err: refused}
}
