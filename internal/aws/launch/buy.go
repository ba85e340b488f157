package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// maxFleetRequests is how many fleet requests one call sends for one order: each leaves
// out what the last found sold out.
const maxFleetRequests = 4

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
	for range maxFleetRequests {
		if len(l.past.machines) >= l.want.order.Count {
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
	if n := len(l.past.machines); refused == nil && n < l.want.order.Count {
		err := cloud.Errorf(cloud.Capacity, "LaunchFailed", "EC2 gave %d of %d machines and no reason", n, l.want.order.Count)
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
	found, err := l.by.Machines.OfOrder(ctx, l.want.order.Token)
	if err != nil {
		return err
	}
	l.past.unsaid = append(l.past.unsaid, l.past.add(found...)...)
	if len(l.past.machines) >= l.want.order.Count {
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
			l.by.Templates.Forget(c.Template)
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
		l.by.Network.Fill(id)
	}
	if marks := answer.SoldOut(sent.CapacityType, l.want.sel.Placement.ID, l.spare); len(marks) > 0 {
		l.by.SoldOut.Mark(answer.Err().Error(), marks...)
		l.refused(marks)
	}
	for _, f := range answer.Failures {
		l.failed = append(l.failed, cloud.Failure{
			Zone: f.Zone, ZoneID: l.want.sel.ZoneIDs()[f.Zone], CapacityType: sent.CapacityType, Reason: refusal.Reason(f.Code + ": " + f.Message),
		})
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
// names one is refused whole. Where it does not say which, sending the
// request again would buy nothing.
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
	l.by.SoldOut.Mark(err.Error(), marks...)
	l.refused(marks)
	return refusal.Wrap("create fleet", err)
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

// count takes what was used of reservations off, so that neither this order nor
// the next counts on it. One that gave less than was asked for has nothing left.
func (l *launching) count(ctx context.Context, sent *fleet.Request, a fleet.Answer) {
	if sent.CapacityType != label.Reserved {
		return
	}
	for _, m := range a.Machines {
		l.by.Reservations.Use(sent.Reservation(m.Template, m.Shape, m.Zone), 1)
	}
	for _, f := range a.Failures {
		if refusal.Kind(f.Code) == cloud.Capacity {
			l.by.Reservations.Use(sent.Reservation(f.Template, f.Shape, f.Zone), reserve.Everything)
		}
	}
	if left, unread := l.by.Selection.ReservationsOf(ctx, l.want.sel.Class); !unread {
		l.want.sel.Reservations = left
	}
}

// complain logs which machines EC2 did not give, in its own words.
func (l *launching) complain(a fleet.Answer) {
	if err := a.Err(); err != nil {
		l.by.Said(say.Line{
			Failed: true, Message: fmt.Sprintf("Provisioning failed, launching node, creating cloud provider instance, %v", err), Pool: l.want.order.Pool,
			Fields: map[string]string{"order": l.want.order.Token},
		})
	}
}

// clash is what to do when the token was used before for another request: by an
// earlier process, which found other offers or prices. What that bought carries
// the order's tag and may not be shown yet; once EC2 has had time to show it,
// the token is spent and the order goes on under the next.
func (l *launching) clash(ctx context.Context) error {
	l.past.sent = nil
	now := l.by.Now()
	if l.past.clashed.IsZero() {
		l.past.clashed = now
	}
	settled := now.Sub(l.past.clashed) >= maxShowDelay
	found, err := l.by.Machines.OfOrder(ctx, l.want.order.Token)
	if err != nil {
		return err
	}
	l.past.add(found...)
	switch {
	case len(l.past.machines) >= l.want.order.Count:
		return nil
	case !settled:
		return cloud.Errorf(cloud.Unknown, "LaunchFailed", "an earlier request of order %s may have bought machines that are not shown yet", l.want.order.Token)
	}
	l.past.round++
	return cloud.Errorf(cloud.Capacity, "LaunchFailed", "an earlier request of order %s bought %d of %d machines", l.want.order.Token, len(l.past.machines), l.want.order.Count)
}

func (l *launching) send(ctx context.Context, r *fleet.Request) (fleet.Answer, error) {
	out, err := l.by.EC2.CreateFleet(ctx, r.Input(), access.RetryThrottlesOnly)
	if err != nil {
		return fleet.Answer{}, err
	}
	return fleet.Read(out, r.CapacityType), nil
}

// book promises addresses of the request's subnets to its machines, so that
// orders beside it choose others. The answer shows which to keep.
func (l *launching) book(r *fleet.Request) (release func(fleet.Answer)) {
	each := map[string]int{} // by subnet: what the smallest machine may take
	for _, c := range r.Candidates {
		if n := l.want.addresses(c.Shape); each[c.Subnet] == 0 || n < each[c.Subnet] {
			each[c.Subnet] = n
		}
	}
	for subnet, n := range each {
		l.by.Network.Book(subnet, n*r.Count)
	}
	return func(a fleet.Answer) {
		for subnet, n := range each {
			l.by.Network.Book(subnet, -n*r.Count)
		}
		for _, m := range a.Machines {
			l.by.Network.Book(m.Subnet, l.want.addresses(m.Shape))
		}
	}
}
