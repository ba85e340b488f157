package market_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// TestNothingIsLostOrMadeOfNothing launches, ends and kills at random. Whatever happens, no address is given twice and
// no pool gives more than it has; when all machines are gone, everything they held is back.
func TestNothingIsLostOrMadeOfNothing(t *testing.T) {
	chance.Check(t, func(rt *rapid.T) {
		m, c, subnet := small(t, func(cfg *market.Config) {
			cfg.Quotas = map[market.Bucket]int{market.Standard: 60}
		})
		const room = 9
		m.SetCapacity(market.Capacity{Zone: "cn-north-1a", Type: "m5.large", Left: room})
		free := m.Subnets()
		var all []string
		alive := func() []market.Instance {
			var out []market.Instance
			for _, i := range m.Instances() {
				if i.State != market.Terminated {
					out = append(out, i)
				}
			}
			return out
		}
		rt.Repeat(map[string]func(*rapid.T){
			"launch": func(rt *rapid.T) {
				zone := rapid.SampledFrom([]string{"cn-north-1a", "cn-north-1b"}).Draw(rt, "zone")
				kind := rapid.SampledFrom([]string{market.OnDemand, market.Spot}).Draw(rt, "kind")
				r := ask(rapid.IntRange(1, 6).Draw(rt, "n"), kind, market.Override{Type: "m5.large", Subnet: subnet[zone]})
				r.Token = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "token")
				got, err := m.CreateFleet(r)
				if err != nil && code(err) != market.IdempotentParameterMismatch {
					rt.Fatal(err)
				}
				for _, g := range got.Launched {
					all = append(all, g.IDs...)
				}
			},
			"end": func(rt *rapid.T) {
				if living := alive(); len(living) > 0 {
					id := rapid.SampledFrom(living).Draw(rt, "machine").ID
					if rapid.Bool().Draw(rt, "killed") {
						if err := m.Kill(id); err != nil {
							rt.Fatal(err)
						}
					} else if _, err := m.Terminate([]string{id}); err != nil {
						rt.Fatal(err)
					}
				}
			},
			"pass": func(rt *rapid.T) { c.pass(time.Duration(rapid.IntRange(1, 30).Draw(rt, "seconds")) * time.Second) },
			"": func(rt *rapid.T) {
				held := map[string]string{}
				inPool := 0
				for _, i := range alive() {
					if other, twice := held[i.DNS]; twice {
						rt.Fatalf("%s and %s have the name %s", other, i.ID, i.DNS)
					}
					held[i.DNS] = i.ID
					if i.Zone == "cn-north-1a" {
						inPool++
					}
				}
				if inPool > room || m.Rules()[0].Left != room-inPool {
					rt.Fatalf("%d machines in a pool of %d that says it has %d left", inPool, room, m.Rules()[0].Left)
				}
			},
		})
		for _, i := range alive() {
			if _, err := m.Terminate([]string{i.ID}); err != nil {
				rt.Fatal(err)
			}
		}
		c.pass(time.Minute)
		for k, s := range m.Subnets() {
			if s.Free != free[k].Free {
				rt.Fatalf("subnet %s has %d addresses of %d when all machines are gone", s.ID, s.Free, free[k].Free)
			}
		}
		if got, err := m.CreateFleet(ask(30, market.OnDemand, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1b"]})); err != nil || len(got.Errors) > 0 {
			rt.Fatalf("the quota of 60 vCPUs does not hold 30 machines when all others are gone: %+v, %v", got.Errors, err)
		}
	})
}
