package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Follow returns a clock that shows the time of the API server, which dates every
// object: by a clock that is a day ahead of it every machine would be due to expire, and
// by one that is behind none would be old enough to be ended. It is asked before anything
// else is; where an answer carries no date, the own clock is believed.
func Follow(ctx context.Context, k *rest.Config, own clock.Now, log logr.Logger) (*clock.Followed, error) {
	asks := rest.CopyConfig(k)
	asks.Timeout = time.Minute
	var heard *clock.Gap
	asks.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return dates{next, own, func(g clock.Gap) { heard = &g }}
	})
	api, err := kubernetes.NewForConfig(asks)
	if err != nil {
		return nil, fmt.Errorf("look at the clock of the API server: %w", err)
	}
	err = api.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	if err != nil && heard == nil {
		return nil, fmt.Errorf("look at the clock of the API server: %w", err)
	}
	if heard == nil {
		heard = &clock.Gap{}
	}
	f := clock.Follow(own, *heard)
	if ahead := f.Ahead(); ahead != 0 {
		log.Error(nil, "the clock of this machine is wrong, or the API server's is: the API server's time is followed; have the machine keep its clock by NTP", "difference", apart(ahead))
	}
	return f, nil
}

// apart says by how much this machine's clock is wrong.
func apart(ahead time.Duration) string {
	if ahead < 0 {
		return (-ahead).Round(time.Second).String() + " behind the API server"
	}
	return ahead.Round(time.Second).String() + " ahead of the API server"
}

// dates reads from each answer what time it is where it was made.
type dates struct {
	http.RoundTripper

	now    clock.Now
	report func(clock.Gap)
}

// RoundTrip is http.RoundTripper's.
func (d dates) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := d.now()
	answer, err := d.RoundTripper.RoundTrip(r)
	if answer != nil {
		if at, bad := http.ParseTime(answer.Header.Get("Date")); bad == nil {
			d.report(clock.Compare(asked, d.now(), at))
		}
	}
	return answer, err
}

// following has a Config go by the clock that it follows, if it follows one.
func (c Config) following() Config {
	f := c.Clock
	if f == nil {
		return c
	}
	c.Now = f.Now
	c.Kubernetes = rest.CopyConfig(c.Kubernetes)
	c.Kubernetes.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return dates{next, f.Now, f.Heard}
	})
	return c
}

// follow ends the program when the clocks have moved apart: what it has dated and
// what it waits for is by a clock that no other is like any more, and a program
// that begins is right from the start.
func (p *parts) follow() error {
	f := p.Clock
	if f == nil {
		return nil
	}
	p.metrics.Put(metric.ClockAhead, f.Ahead().Seconds())
	return p.m.Add(onEveryReplica(func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-f.Lost():
			return errors.New("the clock of this machine was set, or the API server's, by more than a minute: this program ends, and goes by the API server's clock from its start")
		}
	}))
}
