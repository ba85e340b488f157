package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/shadow"
)

// errShadow is what becomes of an attempt to act in shadow mode.
var errShadow = errors.New("shadow mode: this program may only look")

// shadowed is a Config of a controller that cannot act: it takes part in no election
// on which replica leads, and every call that would change something is refused.
func shadowed(c Config) Config {
	c.Settings.LeaderElection, c.Settings.WebhookPort = false, 0
	c.Kubernetes = rest.CopyConfig(c.Kubernetes)
	log := c.Log.WithName("shadow")
	c.Kubernetes.Wrap(func(next http.RoundTripper) http.RoundTripper { return reader{next, log} })
	c.Driver = readOnlyDriver{c.Driver}
	return c
}

// reader carries requests that only read.
type reader struct {
	http.RoundTripper

	log logr.Logger
}

// RoundTrip refuses what is not a GET, which lists and watches are too. That it
// has to is a bug, so it is logged.
func (r reader) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet {
		err := fmt.Errorf("%w: %s %s", errShadow, q.Method, q.URL.Path)
		r.log.Error(err, "a request was not sent")
		return nil, err
	}
	return r.RoundTripper.RoundTrip(q)
}

// readOnlyDriver is a Driver that buys and ends nothing. What else the driver can do it
// hides, but for what only changes what it knows.
type readOnlyDriver struct{ cloud.Driver }

// Launch refuses every order.
func (o readOnlyDriver) Launch(_ context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	for i := range out {
		out[i].Err = errShadow
	}
	return out
}

// Terminate refuses for every machine.
func (o readOnlyDriver) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	out := make([]error, len(ids))
	for i := range out {
		out[i] = errShadow
	}
	return out
}

// Drop has the driver forget what it keeps for a template, if it keeps anything.
func (o readOnlyDriver) Drop(id world.TemplateID) {
	if d, ok := o.Driver.(interface{ Drop(world.TemplateID) }); ok {
		d.Drop(id)
	}
}

// Learn has the driver take over how much memory a node turned out to have, if it can.
// Without it a shadow would count on other machines than the controller beside it.
func (o readOnlyDriver) Learn(node, shape string, memory int64) {
	if d, ok := o.Driver.(learner); ok {
		d.Learn(node, shape, memory)
	}
}

// shadow adds what decides and reports, in the place of all that acts.
func (p *parts) shadow() error {
	c := &shadow.Controller{
		Cluster: p.cluster, Journal: p.journal, Metrics: p.metrics, Now: p.Now, Log: p.Log.WithName("controller.shadow"), Options: p.options(),
		Moves: p.moving().Options(), Stay: p.moving().Off,
	}
	c.Listen()
	if d, ok := p.Driver.(learner); ok {
		if err := p.learn(d); err != nil {
			return err
		}
	}
	if err := p.m.Add(newTemplates(p.m.GetClient(), p.cloud, p.cluster, p.Log.WithName("controller.nodeclass"), p.provisioners)); err != nil {
		return err
	}
	return p.m.Add(c)
}
