package matrix

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A controller that is told to end before the API server has shown it the cluster
// ends at once. It does so outside of virtual time, which would stand still for one
// that is busy with waiting.
func TestEndsBeforeItHasSeenTheCluster(t *testing.T) {
	r := quiet(t)
	api, err := newServer()
	if err != nil {
		t.Fatal(err)
	}
	asked, once := make(chan struct{}), sync.Once{}
	api.Fail("lists", func(q request) answer {
		if q.Verb != "list" && q.Verb != "watch" {
			return answer{}
		}
		once.Do(func() { close(asked) })
		return answer{Err: apierrors.NewInternalError(errors.New("no leader"))}
	})
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.WebhookPort, settings.LeaderElection = 0, 0, 0, false
	config := app.Config{
		Kubernetes: &rest.Config{Host: "https://matrix.invalid", Transport: api}, Provider: "sim", Settings: settings, Log: logr.Discard(), Now: clock.Wall,
		Driver: driver.New(market.New(market.Config{Region: r.Name, Zones: market.ZonesOf(r)[:1], Types: market.TypesOf(r)[:1], Now: clock.Wall}), "matrix"),
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- new(life).live(ctx, config) }()
	<-asked
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
	api.Fail("lists", nil) // what is left of it ends, too
}
