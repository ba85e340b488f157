package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// atOnce is how many orders are under way together.
const atOnce = 8

// Launch carries out orders, several at once. Each ends with as many machines
// as EC2 would give, and an error if that is fewer than asked for.
func (b *Launcher) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	parallel.Do(atOnce, orders, func(i int, o cloud.Order) {
		// An order that meets a bug has failed, as others may: what the rest bought is not lost.
		if broke := panics.Caught(func() { out[i] = b.launch(ctx, o) }); broke != nil {
			out[i] = cloud.Outcome{Err: broke}
		}
	})
	return out
}

// launch carries out one order. What was bought under its token before, by this
// process or an earlier one, counts.
func (b *Launcher) launch(ctx context.Context, o cloud.Order) cloud.Outcome {
	past, done, err := b.orders.open(ctx, o.Token, b.Now)
	if err != nil {
		return cloud.Outcome{Err: err}
	}
	defer done()
	if past.ended {
		return cloud.Outcome{Machines: b.refreshed(ctx, past.machines), Err: past.err}
	}
	if err := b.recall(ctx, past); err != nil {
		return cloud.Outcome{Err: err}
	}
	sel, err := b.Selection.Of(ctx, o.Template)
	if err != nil {
		return past.unless(err)
	}
	want, err := b.demand(ctx, o, sel)
	if err != nil {
		return past.unless(err)
	}
	l := &launching{by: b, want: want, past: past}
	err = l.buy(ctx)
	switch code := cloud.CodeOf(err); {
	case err == nil, code == cloud.Capacity:
	case past.sent != nil || code == cloud.Unknown || code == cloud.Throttled:
		return cloud.Outcome{Failed: l.failed, Err: err} // what it bought is returned once all of it is known
	}
	l.trim(ctx)
	past.machines, past.err = l.finished(ctx), err
	if i := slices.IndexFunc(past.machines, func(m cloud.Machine) bool { return m.Zone == "" }); i >= 0 {
		// Without its zone a machine has no provider id, by which its node is known.
		return cloud.Outcome{Failed: l.failed, Err: cloud.Errorf(cloud.Unknown, "LaunchFailed", "EC2 does not report yet where %s is", past.machines[i].ID)}
	}
	past.ended = err == nil || cloud.CodeOf(err) == cloud.Capacity || len(past.machines) > 0
	past.settled = past.settled || len(past.machines) > 0
	return cloud.Outcome{Machines: slices.Clone(past.machines), Refused: l.sold, Failed: l.failed, Err: err}
}

// trim gives back what a server gave beyond the order, as one that does not keep
// to tokens does when a request comes twice. Once machines have been returned, or
// an earlier process may have returned some, it is settled which claims have which: then
// those beyond are left to the controller that looks for machines without a claim.
func (l *launching) trim(ctx context.Context) {
	p := l.past
	if p.settled || len(p.machines) <= l.want.order.Count {
		return
	}
	var ids []cloud.MachineID
	for _, m := range p.machines[l.want.order.Count:] {
		ids = append(ids, m.ID)
	}
	l.by.Said(say.Line{
		Failed: true, Message: fmt.Sprintf("EC2 gave %d machines more than the order asked for: giving them back", len(ids)), Pool: l.want.order.Pool,
		Fields: map[string]string{"order": l.want.order.Token},
	})
	for i, err := range slices.Backward(l.by.Machines.Terminate(ctx, ids)) {
		if err == nil {
			p.machines = slices.Delete(p.machines, l.want.order.Count+i, l.want.order.Count+i+1)
		}
	}
}

// recall looks once for what an earlier process bought for the order.
func (b *Launcher) recall(ctx context.Context, past *past) error {
	if past.recalled {
		return nil
	}
	found, err := b.Machines.OfOrder(ctx, past.token)
	if err != nil {
		return err
	}
	past.add(found...)
	past.recalled, past.settled = true, len(found) > 0
	return nil
}
