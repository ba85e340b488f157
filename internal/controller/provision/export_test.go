package provision

import (
	"context"
	"time"
)

// Pass makes one decision and has it carried out.
func (c *Controller) Pass(ctx context.Context) time.Duration {
	wait, _ := c.pass(ctx)
	return wait
}
