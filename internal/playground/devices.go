package playground

import (
	"context"

	"github.com/tenon-sh/tenon/internal/sim/devices"
)

// devices gives nodes the devices of dynamic resources that their NodePools state, until ctx ends.
func (g *ground) devices(ctx context.Context) {
	driver := devices.Driver{Client: g.client, Objects: g.objects, Delay: g.Delays.Devices, Say: g.log.say}
	g.followers.Go(func() { driver.Run(ctx) })
}
