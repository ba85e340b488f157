package provision_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plans for worlds like those of the benchmarks, only smaller, can be bound too.
func TestScaleIsValid(t *testing.T) {
	for name, w := range map[string]*world.World{
		"Diverse": enginetest.Diverse(300), "Apps": enginetest.Apps(300), "Tangled": enginetest.Tangled(240), "Steady": enginetest.Steady(20, 200),
	} {
		t.Run(name, func(t *testing.T) {
			p := provision.Decide(w, provision.Options{Steps: 100_000})
			if faults := enginetest.Check(w, p); len(faults) > 0 {
				t.Errorf("%s\n%s", strings.Join(faults, "\n"), p)
			}
			if len(p.Refused) > 0 {
				t.Errorf("every pod finds a place, but these do not:\n%s", p)
			}
		})
	}
}

// A small pod without constraints beside each application, with its labels, costs hardly more than the pod itself.
func TestPodsWithTheLabelsOfOthersAreCheap(t *testing.T) {
	o := provision.Options{Steps: 100_000}
	apps := enginetest.Apps(400)
	alone := provision.Decide(apps, o)
	b := apps.Edit()
	for _, p := range apps.Waiting() {
		if !strings.HasSuffix(p.Name, "-0") {
			continue
		}
		job := world.Pod{Key: world.Key{Namespace: p.Namespace, Name: p.Name + "-job"}, Labels: p.Labels, Waiting: true}
		job.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: 10}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
		if err := b.SetPod(job); err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(0)
	with := provision.Decide(w, o)
	if faults := enginetest.Check(w, with); len(faults)+len(with.Refused) > 0 {
		t.Errorf("%s\n%s", strings.Join(faults, "\n"), with)
	}
	if with.Cost > alone.Cost*102/100 || len(with.New) > len(alone.New)*105/100 {
		t.Errorf("%d on %d nodes without them, and %d on %d with", alone.Cost, len(alone.New), with.Cost, len(with.New))
	}
}
