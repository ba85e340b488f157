package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// saveEvery bounds how much of the account a kill -9 can make forgotten. A machine that was bought within that time is
// gone then, as one that AWS has lost, and the controller finds out as it would there.
const saveEvery = 200 * time.Millisecond

// restore goes on with the machines of an earlier run: those that run and have no node yet boot, those that ended while
// was not seen to die.
func (c *cloud) restore(ctx context.Context, o Options, types *catalog.Catalog, fleet *kubelet.Fleet, log *life) error {
	text, err := os.ReadFile(o.Dir.machines())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var kept market.Kept
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("read %s: %w; begin again with `tenon up --reset`", o.Dir.machines(), err)
	}
	there := map[string]bool{}
	for _, m := range fleet.Machines() {
		there[m.ID] = m.State != kubelet.Dead
	}
	die := func(id string) error {
		if !there[id] {
			return nil
		}
		return fleet.Die(ctx, id)
	}
	for _, i := range c.Market.Restore(kept) {
		log.say("machine %s was of %s and is no more: this account is in %s", i.ID, i.Zone, o.Region)
		if err := die(i.ID); err != nil {
			return err
		}
	}
	for _, i := range c.Market.Instances() {
		_, known := there[i.ID]
		switch {
		case i.State == market.Terminated:
			if err := die(i.ID); err != nil {
				return err
			}
		case i.State == market.Running && !known:
			m, err := machineOf(types, o, i)
			if err != nil {
				return fmt.Errorf("machine %s: %w", i.ID, err)
			}
			if err := fleet.Boot(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep writes the machines down whenever something has changed, until ctx ends and the market is still.
func (c *cloud) keep(ctx context.Context, dir Dir, log *life, still <-chan struct{}) {
	saved := uint64(0)
	save := func() {
		if c.Market.Version() == saved {
			return
		}
		kept, version := c.Market.Keep()
		text, err := json.Marshal(kept)
		if err == nil {
			err = writeWhole(dir.machines(), text)
		}
		if err != nil {
			log.say("the machines of the account could not be written down: %v", err)
		}
		saved = version
	}
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			<-still
			save()
			return
		case <-tick.C:
			save()
		}
	}
}
