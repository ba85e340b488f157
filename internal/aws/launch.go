package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

const (
	atOnce   = 8 // orders under way
	attempts = 4 // fleet requests of one call for one order: each leaves out what the last found sold out
)

// Launch carries out orders, several at once. Each ends with as many machines
// as EC2 would give, and an error if that is fewer than asked for.
func (d *Driver) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	parallel.Do(atOnce, orders, func(i int, o cloud.Order) {
		// An order that meets a bug has failed, as others may: what the rest bought is not lost.
		if broke := panics.Caught(func() { out[i] = d.launch(ctx, o) }); broke != nil {
			out[i] = cloud.Outcome{Err: broke}
		}
	})
	return out
}

// launch carries out one order. What was bought under its token before, by this
// process or an earlier one, counts.
func (d *Driver) launch(ctx context.Context, o cloud.Order) cloud.Outcome {
	past, done, err := d.orders.open(ctx, o.Token)
	if err != nil {
		return cloud.Outcome{Err: err}
	}
	defer done()
	if past.ended {
		return cloud.Outcome{Machines: d.refreshed(ctx, past.machines), Err: past.err}
	}
	if err := d.recall(ctx, past); err != nil {
		return cloud.Outcome{Err: err}
	}
	r, err := d.resolve(ctx, o.Template)
	if err != nil {
		return past.unless(err)
	}
	shapes, err := d.catalog(ctx, o.Template, r)
	if err != nil {
		return past.unless(err)
	}
	l := &launching{Driver: d, order: o, resolved: r, shapes: shapes, past: past, awayFrom: d.away(ctx)}
	err = l.buy(ctx)
	switch code := cloud.CodeOf(err); {
	case err == nil, code == cloud.Capacity:
	case past.sent != nil || code == cloud.Unknown || code == cloud.Throttled:
		return cloud.Outcome{Err: err} // what it bought is told when all of it is known
	}
	l.trim(ctx)
	past.machines, past.err = l.finished(ctx), err
	if i := slices.IndexFunc(past.machines, func(m cloud.Machine) bool { return m.Zone == "" }); i >= 0 {
		// Without its zone a machine has no provider id, and its node could not be told to be its own.
		return cloud.Outcome{Err: cloud.Errorf(cloud.Unknown, "LaunchFailed", "EC2 does not tell yet where %s is", past.machines[i].ID)}
	}
	past.ended = err == nil || cloud.CodeOf(err) == cloud.Capacity || len(past.machines) > 0
	past.told = past.told || len(past.machines) > 0
	return cloud.Outcome{Machines: slices.Clone(past.machines), Refused: l.sold, Err: err}
}

// trim gives back what a server gave beyond the order, as one that does not keep
// to tokens does when a request comes twice. Once machines have been told of, or
// an earlier process may have, which of them are dealt out is settled: then
// those beyond are left to whoever looks for machines without a claim.
func (l *launching) trim(ctx context.Context) {
	p := l.past
	if p.told || len(p.machines) <= l.order.Count {
		return
	}
	var ids []cloud.MachineID
	for _, m := range p.machines[l.order.Count:] {
		ids = append(ids, m.ID)
	}
	l.cfg.Said(Saying{
		Failed: true, Message: fmt.Sprintf("EC2 gave %d machines more than the order asked for: giving them back", len(ids)), Pool: l.order.Pool,
		Fields: map[string]string{"order": l.order.Token},
	})
	for i, err := range slices.Backward(l.machines.Terminate(ctx, ids)) {
		if err == nil {
			p.machines = slices.Delete(p.machines, l.order.Count+i, l.order.Count+i+1)
		}
	}
}

// recall looks once for what an earlier process bought for the order.
func (d *Driver) recall(ctx context.Context, past *past) error {
	if past.recalled {
		return nil
	}
	found, err := d.machines.OfOrder(ctx, past.token)
	if err != nil {
		return err
	}
	past.add(found...)
	past.recalled, past.told = true, len(found) > 0
	return nil
}

// launching is one order on its way.
type launching struct {
	*Driver
	resolved
	order  cloud.Order
	shapes world.Catalog
	past   *past

	awayFrom []string // ids of zones
	full     []string // subnets
	sold     []cloud.Offer
}

// refused takes down which offers turned out to be sold out, for who asked. What
// has no room in a placement group says nothing of what is to be had elsewhere.
func (l *launching) refused(marks []soldout.Offer) {
	for _, m := range marks {
		o := cloud.Offer{Shape: m.Type, Zone: m.Zone, CapacityType: m.CapacityType}
		if o.Shape != "" && m.Group == "" && !slices.Contains(l.sold, o) {
			l.sold = append(l.sold, o)
		}
	}
}

// buy sends fleet requests until the order has its machines, each without what
// the one before found sold out. Where an answer never came, EC2 is first asked
// what the request bought; the request is then sent again to the letter, because
// only so does its token protect.
func (l *launching) buy(ctx context.Context) error {
	if l.past.sent != nil {
		if err := l.look(ctx); err != nil {
			return err
		}
	}
	var refused error // the last time
	for range attempts {
		if len(l.past.machines) >= l.order.Count {
			return nil
		}
		if l.past.sent == nil {
			next, err := l.request(ctx)
			if refused != nil && cloud.CodeOf(err) == cloud.Capacity {
				return refused // nothing is left to try: EC2's own words say more
			}
			if err != nil {
				return err
			}
			l.past.sent = next
		}
		before := len(l.past.machines)
		if refused = l.try(ctx, l.past.sent); refused != nil && cloud.CodeOf(refused) != cloud.Capacity {
			return refused
		}
		if refused == nil && len(l.past.machines) == before {
			break // asked again, it would give as little
		}
	}
	if n := len(l.past.machines); refused == nil && n < l.order.Count {
		err := cloud.Errorf(cloud.Capacity, "LaunchFailed", "EC2 gave %d of %d machines and no reason", n, l.order.Count)
		if l.early(ctx) {
			err.Code = cloud.Unknown
		}
		return err
	}
	return refused
}

// look finds what was bought by the request whose answer never came. If that is
// all of it, the request has done its work.
func (l *launching) look(ctx context.Context) error {
	found, err := l.machines.OfOrder(ctx, l.order.Token)
	if err != nil {
		return err
	}
	l.past.unsaid = append(l.past.unsaid, l.past.add(found...)...)
	if len(l.past.machines) >= l.order.Count {
		l.past.sent = nil
		l.past.round++
	}
	return nil
}

// try sends one request and takes down what it bought.
func (l *launching) try(ctx context.Context, sent *fleet.Request) error {
	release := l.book(sent)
	answer, err := l.send(ctx, sent)
	if refusal.Is(err, "InvalidLaunchTemplateName.NotFoundException") {
		// Someone deleted it. Its name follows from what is in it, so the request stays the same.
		for _, c := range sent.Candidates {
			l.stores.Forget(c.Template)
		}
		if _, err := l.request(ctx); err != nil {
			return err
		}
		answer, err = l.send(ctx, sent)
	}
	release(answer)
	switch {
	case refusal.Is(err, "IdempotentParameterMismatch"):
		return l.clash(ctx)
	case refusal.NoType(err):
		return l.strike(sent, err)
	case err != nil:
		if k := refusal.Kind(refusal.Code(err)); k == cloud.Invalid || k == cloud.Unauthorised || k == cloud.Gone {
			l.past.sent = nil // refused for good: nothing was bought
		}
		return refusal.Wrap("create fleet", err)
	}
	l.past.sent = nil
	l.past.round++
	for _, id := range answer.Full() {
		l.full = append(l.full, id)
		l.network.Fill(id)
	}
	if marks := answer.SoldOut(sent.CapacityType, l.placement.ID, l.spare); len(marks) > 0 {
		l.soldout.Mark(answer.Err().Error(), marks...)
		l.refused(marks)
	}
	l.count(ctx, sent, answer)
	for _, m := range answer.Machines {
		l.past.add(l.fresh(m, sent.Reservation(m.Template, m.Shape, m.Zone)))
		l.past.unsaid = append(l.past.unsaid, cloud.MachineID(m.ID))
	}
	l.complain(answer)
	return l.verdict(ctx, answer.Err())
}

// strike leaves out the types that EC2 says it does not have: a request that
// names one is refused whole. Where it does not say which, nothing is to be had
// by sending the request again.
func (l *launching) strike(sent *fleet.Request, err error) error {
	l.past.sent = nil
	l.past.round++
	words := strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune(" ,:;()[]{}'\"", r) })
	var marks []soldout.Offer
	for _, c := range sent.Candidates {
		named := slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(w, ".") == c.Shape })
		if named || !slices.ContainsFunc(sent.Candidates, func(o fleet.Candidate) bool { return o.Shape != c.Shape }) {
			marks = append(marks, soldout.Offer{Type: c.Shape, Zone: c.Zone, CapacityType: sent.CapacityType})
		}
	}
	if len(marks) == 0 {
		return cloud.Errorf(cloud.Invalid, "LaunchFailed", "create fleet: %w", err)
	}
	l.soldout.Mark(err.Error(), marks...)
	l.refused(marks)
	return refusal.Wrap("create fleet", err)
}

// spare reports whether a zone has a subnet of the class that is not full.
func (l *launching) spare(zone string) bool {
	return slices.ContainsFunc(l.subnets, func(s network.Subnet) bool { return s.Zone == zone && !slices.Contains(l.full, s.ID) })
}

// verdict is what the errors of a fleet mean. A profile that IAM has only just
// made is refused as invalid until EC2 has heard of it.
func (l *launching) verdict(ctx context.Context, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Reason != "InstanceProfileNameInvalid" || !l.early(ctx) {
		return err
	}
	return cloud.Errorf(cloud.Unknown, e.Reason, "EC2 does not know the new instance profile yet: %w", err)
}

// early reports whether EC2 may not have heard of the order's profile yet.
func (l *launching) early(ctx context.Context) bool {
	if l.class.LaunchTemplate != "" {
		return false
	}
	name, err := l.profile(ctx)
	return err == nil && l.profiles.Young(name)
}

// count takes what was used of reservations off, so that neither this order nor
// the next counts on it. One that gave less than was asked for has nothing left.
func (l *launching) count(ctx context.Context, sent *fleet.Request, a fleet.Answer) {
	if sent.CapacityType != label.Reserved {
		return
	}
	for _, m := range a.Machines {
		l.reserved.Use(sent.Reservation(m.Template, m.Shape, m.Zone), 1)
	}
	for _, f := range a.Failures {
		if refusal.Kind(f.Code) == cloud.Capacity {
			l.reserved.Use(sent.Reservation(f.Template, f.Shape, f.Zone), reserve.Everything)
		}
	}
	if left, unread := l.reservationsOf(ctx, l.class); !unread {
		l.reservations = left
	}
}

// complain tells of machines that EC2 did not give, in its own words.
func (l *launching) complain(a fleet.Answer) {
	if err := a.Err(); err != nil {
		l.cfg.Said(Saying{
			Failed: true, Message: fmt.Sprintf("Provisioning failed, launching node, creating cloud provider instance, %v", err), Pool: l.order.Pool,
			Fields: map[string]string{"order": l.order.Token},
		})
	}
}

// clash is what to do when the token was used before for another request: by an
// earlier process, which found other offers or prices. What that bought carries
// the order's tag and may not be shown yet; once EC2 has had time to show it,
// the token is spent and the order goes on under the next.
func (l *launching) clash(ctx context.Context) error {
	l.past.sent = nil
	now := l.cfg.Now()
	if l.past.clashed.IsZero() {
		l.past.clashed = now
	}
	settled := now.Sub(l.past.clashed) >= shown
	found, err := l.machines.OfOrder(ctx, l.order.Token)
	if err != nil {
		return err
	}
	l.past.add(found...)
	switch {
	case len(l.past.machines) >= l.order.Count:
		return nil
	case !settled:
		return cloud.Errorf(cloud.Unknown, "LaunchFailed", "an earlier request of order %s may have bought machines that are not shown yet", l.order.Token)
	}
	l.past.round++
	return cloud.Errorf(cloud.Capacity, "LaunchFailed", "an earlier request of order %s bought %d of %d machines", l.order.Token, len(l.past.machines), l.order.Count)
}

// request is the fleet request for what is missing, with its launch templates made.
func (l *launching) request(ctx context.Context) (*fleet.Request, error) {
	offers, kind := l.offers()
	if len(offers) == 0 {
		return nil, l.nothing()
	}
	candidates, err := l.candidates(ctx, offers, kind)
	if err != nil {
		return nil, err
	}
	l.warn(kind, candidates)
	token := l.order.Token
	if l.past.round > 0 {
		token = fmt.Sprintf("%s-%d", token, l.past.round)
	}
	r := &fleet.Request{
		Token: token, CapacityType: kind, Count: l.order.Count - len(l.past.machines), Candidates: candidates, Tags: l.tags(), Context: l.class.Context,
		Ranked: len(l.order.Prices) > 0,
	}
	if l.order.Relaxed {
		r.Context = ""
	}
	return r, nil
}

// nothing says why there is no offer that the order may become.
func (l *launching) nothing() error {
	sold := slices.ContainsFunc(l.order.Menu, func(name string) bool { _, ok := l.shape(name); return ok })
	if sold || len(l.order.Menu) == 0 {
		return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "all requested instance types were unavailable during launch")
	}
	menu := strings.Join(l.order.Menu[:min(len(l.order.Menu), few)], ", ")
	if slices.ContainsFunc(l.order.Menu, l.inventory.Sells) {
		return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "class %s does not launch %s: no image of class %s boots them, or its settings leave them out", l.class.Ref.Name, menu, l.class.Ref.Name)
	}
	return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "%s sells none of %s", l.clients.Region, menu)
}

// few is how many types it takes for spot to be a good idea.
const few = 5

// warn tells when an order that could have been spot becomes on-demand, and was
// left with so few types that this is likely to happen again.
func (l *launching) warn(kind string, candidates []fleet.Candidate) {
	shapes := map[string]bool{}
	for _, c := range candidates {
		shapes[c.Shape] = true
	}
	if kind != label.OnDemand || !l.allows(label.CapacityType, label.Spot) || len(shapes) >= few {
		return
	}
	l.cfg.Said(Saying{
		Message: fmt.Sprintf("at least %d instance types are recommended when spot may become on-demand: the order leaves %d (%s)", few, len(shapes), strings.Join(slices.Sorted(maps.Keys(shapes)), ", ")),
		Pool:    l.order.Pool,
	})
}

func (l *launching) send(ctx context.Context, r *fleet.Request) (fleet.Answer, error) {
	out, err := l.clients.EC2.CreateFleet(ctx, r.Input(), access.Unhurt)
	if err != nil {
		return fleet.Answer{}, err
	}
	return fleet.Read(out, r.CapacityType), nil
}

// book promises addresses of the request's subnets to its machines, so that
// orders beside it choose others. The answer tells which to keep.
func (l *launching) book(r *fleet.Request) (release func(fleet.Answer)) {
	each := map[string]int{} // by subnet: what the smallest machine may take
	for _, c := range r.Candidates {
		if n := l.addresses(c.Shape); each[c.Subnet] == 0 || n < each[c.Subnet] {
			each[c.Subnet] = n
		}
	}
	for subnet, n := range each {
		l.network.Book(subnet, n*r.Count)
	}
	return func(a fleet.Answer) {
		for subnet, n := range each {
			l.network.Book(subnet, -n*r.Count)
		}
		for _, m := range a.Machines {
			l.network.Book(m.Subnet, l.addresses(m.Shape))
		}
	}
}

// addresses is how many a machine and its pods take.
func (l *launching) addresses(shape string) int {
	if i, ok := l.shape(shape); ok {
		return max(1, int(l.shapes.Shapes[i].Capacity.Value(amount.Pods)/amount.Unit))
	}
	return 1
}

// tags are what the machines of the order carry from birth.
func (l *launching) tags() map[string]string {
	tags := l.baseTags()
	tags[machine.TagOrder] = l.order.Token
	return tags
}

// baseTags are the tags that also go on what is made beside a machine.
func (l *launching) baseTags() map[string]string {
	own := map[string]string{machine.Owned(l.cfg.Settings.Cluster): "owned", machine.TagCluster: l.cfg.Settings.Cluster}
	if l.class.Legacy {
		own[machine.TagProvisioner] = l.order.Pool.Name
		own[machine.TagName] = machine.TagProvisioner + "/" + l.order.Pool.Name
	} else {
		own[machine.TagNodePool] = l.order.Pool.Name
		own[machine.TagClass] = l.class.Ref.Name
	}
	tags := maps.Clone(l.class.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	for k, v := range own {
		if _, users := tags[k]; !users || k != machine.TagName {
			tags[k] = v
		}
	}
	for k, v := range l.order.Tags {
		tags[k] = v
	}
	return tags
}
