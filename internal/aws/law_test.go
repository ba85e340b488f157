package aws_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cloudtest"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// TestLaw holds the driver to the law of drivers, with the SDK and the protocols of AWS between it and the market.
func TestLaw(t *testing.T) {
	credentials(t)
	cloudtest.Run(t, func(t *testing.T) cloudtest.Stage { return stage(t, map[string]market.Limit{}) })
}

// actions are the operations of EC2 behind the calls of the law.
func actions(c cloudtest.Call) string {
	switch c {
	case cloudtest.Buy:
		return "CreateFleet"
	case cloudtest.End:
		return "TerminateInstances"
	default:
		return "Describe*"
	}
}

// stage is an account in virtual time. It is built when it is first needed, so
// that the market can be told before how fast it shows machines.
func stage(t *testing.T, limits map[string]market.Limit) cloudtest.Stage {
	t.Helper()
	return stageOf(&virtual{t: t, limits: limits})
}

func stageOf(w *virtual) cloudtest.Stage {
	t := w.t
	return cloudtest.Stage{
		Start:    func() cloud.Driver { return w.start() },
		Template: templateOf(),
		Menu:     []string{"c5.large", "m5.large", "m5a.large"},
		Running: func() []cloud.MachineID {
			var out []cloud.MachineID
			for _, i := range w.account().Market.Everything() {
				if !i.State.Gone() {
					out = append(out, cloud.MachineID(i.ID))
				}
			}
			return out
		},
		SellOut: func(shape, kind string, left int) {
			c := market.Capacity{Type: shape, CapacityType: kind, Left: left}
			if left < 0 {
				w.account().Market.ClearCapacity(c)
			} else {
				w.account().Market.SetCapacity(c)
			}
		},
		Fault: func(c cloudtest.Call, f cloudtest.Fault, times int) {
			rules := w.account().Rules
			for _, r := range rules.List() {
				if r.Action == actions(c) && r.Kind == fault.Kind(f) {
					rules.Remove(r.ID)
				}
			}
			if times > 0 {
				rules.Add(fault.Rule{Service: "ec2", Action: actions(c), Kind: fault.Kind(f), Times: times})
			}
		},
		Hide:  func(d time.Duration) { w.hidden = d },
		Break: func() { w.broken = true },
		Strip: func(id cloud.MachineID) {
			if err := w.account().Market.Untag([]string{string(id)}, map[string]*string{machine.Owned("demo"): nil}); err != nil {
				t.Fatal(err)
			}
		},
		Calls: func(c cloudtest.Call) int { return w.counts.calls(actions(c)) },
	}
}
