package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/notice"
)

// Ending hands to handle, as a notice, the machines whose capacity block is about
// to end, and returns how many notices there were. They drain while there is time:
// AWS ends what is left half an hour before the block does. A machine that could
// not be handled goes to failed, and is found again the next time.
func (d *Driver) Ending(ctx context.Context, handle notice.Handler, failed func(error)) (int, error) {
	ending := d.reservations.Expiring()
	if len(ending) == 0 {
		return 0, nil
	}
	machines, err := d.List(ctx)
	if err != nil {
		return 0, err
	}
	n := notice.Notice{Kind: notice.BlockEnds}
	for _, m := range machines {
		if _, ends := ending[m.Reservation]; ends && !m.Ending {
			n.Instances = append(n.Instances, string(m.ID))
		}
	}
	if len(n.Instances) == 0 {
		return 0, nil
	}
	slices.Sort(n.Instances)
	if err := handle(ctx, n); err != nil {
		failed(fmt.Errorf("%s of %v: %w", n.Kind, n.Instances, err))
	}
	return 1, nil
}
