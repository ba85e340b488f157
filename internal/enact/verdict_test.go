package enact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// heard keeps the events that are published.
type heard []string

func (h *heard) Normal(_ client.Object, reason, format string, args ...any) {
	*h = append(*h, reason+" "+fmt.Sprintf(format, args...))
}

func (h *heard) Warning(o client.Object, reason, format string, args ...any) {
	h.Normal(o, reason, format, args...)
}

func (h *heard) WarningEvery(_ time.Duration, o client.Object, reason, message string) {
	h.Normal(o, reason, "%s", message)
}

// The event of a refused pod is a line, however many pools there are.
func TestTellIsBrief(t *testing.T) {
	b := world.NewBuilder()
	why := &reason.Why{Code: reason.NoPlace}
	for i := range 10 {
		id := world.PoolID{Kind: world.NodePool, Name: fmt.Sprint("p", i)}
		if err := b.SetPool(world.Pool{ID: id}); err != nil {
			t.Fatal(err)
		}
		why.Causes = append(why.Causes, &reason.Why{Code: reason.Taint, Subject: "NodePool " + id.Name, Detail: "example.com/own=yes:NoSchedule", About: reason.About{Key: "example.com/own", Value: "yes", Effect: world.NoSchedule}})
	}
	key := world.Key{Namespace: "default", Name: "web"}
	if err := b.SetPod(world.Pod{Key: key, Waiting: true}); err != nil {
		t.Fatal(err)
	}
	said := &heard{}
	e := &Enactor{Cluster: cluster.New(clock.Wall), Events: said, Now: clock.Wall, Targets: &Targets{}}
	e.Tell(b.Snapshot(0), plan.Plan{Refused: []plan.Refusal{{Pod: key, Why: why}}}, nil)
	const begin, end = `FailedScheduling Failed to schedule pod, incompatible with nodepool "p0", `, " more pools"
	if len(*said) != 1 || !strings.HasPrefix((*said)[0], begin) || !strings.HasSuffix((*said)[0], end) || len((*said)[0]) > len("FailedScheduling ")+200 {
		t.Errorf("said %q", *said)
	}
}
