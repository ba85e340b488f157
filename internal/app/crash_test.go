package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// crash ends a controller as kill -9 would: at one of the calls by which it
// changes something, before the call is made or before its answer is heard.
// From then on no call gets through.
type crash struct {
	at    string // part of the call's name
	nth   int    // which of those, counted from 1
	after bool
	slow  bool // only when ALL is set: the others are the more telling
	stop  context.CancelFunc

	mu    sync.Mutex
	count int
	dead  bool
}

var errDead = errors.New("this process is dead")

// around makes one call that changes something.
func (c *crash) around(what string, call func()) error {
	c.mu.Lock()
	now := false
	if strings.Contains(what, c.at) {
		c.count++
		now = c.count == c.nth
	}
	c.dead = c.dead || now && !c.after
	dead := c.dead
	c.mu.Unlock()
	if !dead {
		call()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now {
		c.dead = true
		c.stop()
	}
	if c.dead {
		return errDead
	}
	return nil
}

// transport passes calls to the API server on.
type transport struct {
	*crash
	next http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/events") {
		t.mu.Lock()
		dead := t.dead
		t.mu.Unlock()
		if dead {
			return nil, errDead
		}
		return t.next.RoundTrip(r)
	}
	if dead := t.around(r.Method+" "+r.URL.Path, func() { resp, err = t.next.RoundTrip(r) }); dead != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, dead
	}
	return resp, err
}

// mortal passes calls to the cloud on.
type mortal struct {
	*crash
	cloud.Driver
}

func (m mortal) Launch(ctx context.Context, orders []cloud.Order) (out []cloud.Outcome) {
	if dead := m.around("launch", func() { out = m.Driver.Launch(ctx, orders) }); dead != nil {
		out = make([]cloud.Outcome, len(orders))
		for i := range out {
			out[i].Err = dead
		}
	}
	return out
}

func (m mortal) Terminate(ctx context.Context, ids []cloud.MachineID) (errs []error) {
	if dead := m.around("terminate", func() { errs = m.Driver.Terminate(ctx, ids) }); dead != nil {
		errs = make([]error, len(ids))
		for i := range errs {
			errs[i] = dead
		}
	}
	return errs
}

// Wherever a controller is killed while nodes come, the next one finishes its
// work: no machine is bought twice, none is left over, and every pod runs.
func TestKilledWhileNodesCome(t *testing.T) {
	for i, dies := range []*crash{
		{at: "POST /apis/karpenter.sh/v1/nodeclaims", nth: 2, after: true, slow: true}, // some claims of a plan are made
		{at: "PATCH /apis/karpenter.sh/v1/nodeclaims/", nth: 2, slow: true},            // an order is written in part
		{at: "launch", nth: 1, slow: true},                                             // it is written and not sent
		{at: "launch", nth: 1, after: true},                                            // machines are bought and nobody knows whose they are
		{at: "status", nth: 6, after: true, slow: true},                                // some are dealt out
		{at: "PATCH /api/v1/nodes/", nth: 1, after: true, slow: true},                  // a node is registered and its claim does not say so
	} {
		t.Run(fmt.Sprintf("%s,%d,after=%t", strings.ReplaceAll(dies.at, "/", "."), dies.nth, dies.after), func(t *testing.T) {
			if dies.slow && os.Getenv("ALL") == "" {
				t.Skip("one of many: set ALL to have them all")
			}
			h := build(t, dies)
			ns := kubetest.Namespace(t)
			p, d := pool(fmt.Sprint("come-", i)), deployment(ns, "web", 3, "900m")
			d.Spec.Template.Spec.Affinity = apart(d)
			h.make(t, p, d)
			<-h.ended
			next := h.again(t)
			next.runs(t, ns, 3)
			claims, err := next.claims()
			if err != nil {
				t.Fatal(err)
			}
			if bought := len(next.market.Instances()); bought != len(claims) || bought != 3 {
				t.Errorf("%d machines were bought for %d claims, want 3", bought, len(claims))
			}
			next.clear(t, d, p)
		})
	}
}

// So it is while they go: nothing is left over.
func TestKilledWhileNodesGo(t *testing.T) {
	for i, dies := range []*crash{
		{at: "DELETE /api/v1/nodes/", nth: 1, after: true, slow: true},
		{at: "eviction", nth: 1, slow: true},
		{at: "eviction", nth: 1, after: true},
		{at: "terminate", nth: 1, slow: true},
		{at: "terminate", nth: 1, after: true, slow: true},
	} {
		t.Run(fmt.Sprintf("%s,%d,after=%t", strings.ReplaceAll(dies.at, "/", "."), dies.nth, dies.after), func(t *testing.T) {
			if dies.slow && os.Getenv("ALL") == "" {
				t.Skip("one of many: set ALL to have them all")
			}
			h := build(t, dies)
			ns := kubetest.Namespace(t)
			p, d := pool(fmt.Sprint("go-", i)), deployment(ns, "web", 1, "900m")
			h.make(t, p, d)
			h.runs(t, ns, 1)
			claims, err := h.claims()
			if err != nil || len(claims) != 1 {
				t.Fatalf("%d claims: %v", len(claims), err)
			}
			for _, o := range []client.Object{p, &claims[0]} {
				if err := h.client.Delete(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			<-h.ended
			next := h.again(t)
			next.empty(t)
			if err := h.client.Delete(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func wrapped(k *rest.Config, c *crash) *rest.Config {
	if c == nil {
		return k
	}
	k.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{c, next} })
	return k
}
