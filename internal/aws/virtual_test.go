package aws_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// virtual is a simulated account without a listener, for a bubble of virtual time.
type virtual struct {
	t        *testing.T
	limits   map[string]market.Limit // nil: those of AWS
	hidden   time.Duration           // how long a fresh machine is not shown
	broken   bool                    // the class selects no subnet
	queue    string
	full     bool // the region sells every type
	config   func(*awsapi.Config)
	settings func(*aws.Settings)
	sold     []string // families; nil: a few
	change   func(*nodeclass.Class)
	strange  *strange   // stands before the server
	mu       sync.Mutex // over said: launches run beside each other
	said     []string
	heard    func(service, action string) // told of every call; may be nil
	made     *awsapi.Account
	server   http.RoundTripper
	counts   counts
}

// counts counts the calls that reach a server, by action.
type counts struct {
	mu sync.Mutex
	of map[string]int
	to http.RoundTripper
}

// RoundTrip is http.RoundTripper's.
func (c *counts) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		if form, err := url.ParseQuery(string(body)); err == nil {
			c.mu.Lock()
			c.of[form.Get("Action")]++
			c.mu.Unlock()
		}
	}
	return c.to.RoundTrip(r)
}

func (c *counts) calls(action string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[action]
}

func (w *virtual) account() *awsapi.Account {
	w.t.Helper()
	if w.made != nil {
		return w.made
	}
	all, err := loaded()
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := awsapi.Config{
		Region: "us-west-2", ClusterName: "demo", KubernetesVersion: "1.34", CA: []byte("certificate"), Endpoint: "https://demo.example",
		Now: time.Now, Limits: w.limits, Timing: market.Usual(),
	}
	cfg.Timing.Hidden = w.hidden
	if !w.full { // a few families will do, and are described sooner
		cfg.Sells = func(name string) bool {
			family, _, _ := strings.Cut(name, ".")
			return slices.Contains(w.sold, family) || w.sold == nil && slices.Contains([]string{"c5", "m5", "m5a", "m6g", "g5"}, family)
		}
	}
	if w.config != nil {
		w.config(&cfg)
	}
	if cfg.Catalog, err = all.Region(cfg.Region); err != nil {
		w.t.Fatal(err)
	}
	if w.made, err = awsapi.NewAccount(cfg); err != nil {
		w.t.Fatal(err)
	}
	w.server = awsapi.NewServer(w.made)
	if w.strange != nil {
		w.strange.to, w.server = w.server, w.strange
	}
	w.counts.of, w.counts.to, w.server = map[string]int{}, w.server, &w.counts
	return w.made
}

// start returns a driver as a new process has it.
func (w *virtual) start() *aws.Driver {
	w.t.Helper()
	w.account()
	all, err := loaded()
	if err != nil {
		w.t.Fatal(err)
	}
	clients, err := access.Connect(context.Background(), access.Options{Region: "us-west-2", Version: "test", HTTP: &http.Client{Transport: w.server}, OnCall: w.onCall()})
	if err != nil {
		w.t.Fatal(err)
	}
	settings := aws.Settings{Cluster: "demo", Queue: w.queue}
	if w.settings != nil {
		w.settings(&settings)
	}
	return aws.New(aws.Config{
		Clients: clients, Catalog: all, Settings: settings,
		Said: func(s say.Line) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.said = append(w.said, s.Message)
		},
		Classes: func(_ context.Context, ref cloud.ClassRef) (nodeclass.Class, error) {
			c := defaultClass(ref)
			if w.broken {
				c.Subnets = []nodeclass.Selector{{IDs: []string{"subnet-0"}}}
			}
			if w.change != nil {
				w.change(&c)
			}
			return c, nil
		},
	})
}

// onCall checks every call, and notes it where a test wants to know.
func (w *virtual) onCall() access.OnCall {
	check := shaped(w.t)
	return func(service, action string, input any) {
		check(service, action, input)
		if w.heard != nil {
			w.heard(service, action)
		}
	}
}

// credentials makes the environment that of the simulated account's controller.
func credentials(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", "http://aws.simulated")
	t.Setenv("AWS_ACCESS_KEY_ID", awsapi.ControllerKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", awsapi.SecretKey)
}

func ipv6(c *awsapi.Config) { c.IPv6, c.KubernetesVersion = true, "1.32" }

// decoded is user data as the machine reads it.
func decoded(t *testing.T, text string) string {
	t.Helper()
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// containsFold looks for a text whatever quotes are used.
func containsFold(text, part string) bool {
	plain := strings.NewReplacer(`"`, "", "'", "", " ", "")
	return strings.Contains(plain.Replace(text), plain.Replace(part))
}
