package app_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/sim/driver"
)

// diary is what somebody did and said.
type diary struct {
	mu       sync.Mutex
	requests []string
	lines    []string
}

func (d *diary) note(to *[]string, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*to = append(*to, what)
}

// told returns the lines that contain what.
func (d *diary) told(what string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, l := range d.lines {
		if strings.Contains(l, what) {
			out = append(out, l)
		}
	}
	return out
}

// onlooking is a driver that notes whether it was asked for more than to look.
type onlooking struct {
	cloud.Driver

	acted   bool
	learned atomic.Bool
}

func (o *onlooking) Learn(string, string, int64) { o.learned.Store(true) }

func (o *onlooking) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	o.acted = true
	return o.Driver.Launch(ctx, orders)
}

func (o *onlooking) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	o.acted = true
	return o.Driver.Terminate(ctx, ids)
}

// A shadow beside the controller in charge says what it would have bought and
// what was bought, and sends nothing but reads.
func TestShadow(t *testing.T) {
	h := build(t)
	var d diary
	k := kubetest.Config(t)
	k.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			d.note(&d.requests, r.Method+" "+r.URL.Path)
			return next.RoundTrip(r)
		})
	})
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.Shadow, settings.JournalDir = 0, 0, true, t.TempDir()
	settings.RecordFile = filepath.Join(t.TempDir(), "tenon.rec")
	log := funcr.New(func(_, line string) { d.note(&d.lines, line) }, funcr.Options{})
	looks := &onlooking{Driver: driver.New(h.market, "test")}
	a, err := app.New(t.Context(), app.Config{Kubernetes: k, Driver: looks, Provider: "sim", Settings: settings, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()

	ns := kubetest.Namespace(t)
	p, web := pool("shadow"), deployment(ns, "web", 3, "1500m")
	h.make(t, p, web)
	h.runs(t, ns, 3)
	kubetest.Within(t, time.Minute, func() error {
		if len(d.told("pods run that Tenon would have bought for")) == 0 {
			return errors.New("the shadow has not said how its plan came out")
		}
		return nil
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	for _, want := range []string{"would buy a node", "what the nodes of all pools cost, and what new nodes for all pods would"} {
		if len(d.told(want)) == 0 {
			t.Errorf("it does not say %q", want)
		}
	}
	if refused := d.told("may only look"); len(refused) > 0 {
		t.Errorf("it tried to act: %s", refused)
	}
	for _, r := range d.requests {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("it sent %s", r)
		}
	}
	if len(d.requests) == 0 {
		t.Error("no request was recorded")
	}
	if !looks.learned.Load() {
		t.Error("the driver was not told what memory nodes turned out to have: it would plan otherwise than the controller in charge")
	}
	if looks.acted {
		t.Error("it asked the cloud for more than to look")
	}
	if files, err := journal.Files(settings.JournalDir); err != nil || len(files) == 0 {
		t.Errorf("%d decisions are kept: %v", len(files), err)
	}
	recorded := 0
	if data, err := os.ReadFile(settings.RecordFile); err != nil {
		t.Error(err)
	} else if err := record.Read(bytes.NewReader(data), func(journal.Entry) error { recorded++; return nil }); err != nil || recorded == 0 {
		t.Errorf("%d decisions are recorded: %v", recorded, err)
	}
	for _, rule := range loop.Rules(app.ShadowSpecs()...) {
		if !slices.Equal(rule.Verbs, []string{"get", "list", "watch"}) {
			t.Errorf("its role lets it %v", rule)
		}
	}
	if _, ok := a.Journal.Last(journal.Buy); !ok {
		t.Error("no decision is in its journal")
	}
	h.clear(t, web, p)
}
