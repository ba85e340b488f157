package awsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Server answers for one account. It is an http.Handler.
type Server struct {
	account *Account
	rules   *fault.Rules
	control http.Handler
	ec2     map[string]ec2Op
	iam     map[string]queryOp
	sts     map[string]queryOp
	stacks  map[string]queryOp
	json    map[string]jsonOp // by target: "AmazonSQS.SendMessage"
}

// NewServer returns a server for the account.
func NewServer(a *Account) *Server {
	s := &Server{account: a, rules: a.Rules}
	s.ec2 = ec2Ops()
	s.iam = iamOps()
	s.sts = stsOps()
	s.stacks = stackOps()
	s.json = jsonOps()
	s.control = fault.Handler("/_tenon/", fault.Panel{Market: a.Market, Rules: a.Rules, Queue: a.cfg.ClusterName, Calls: s.calls()})
	return s
}

// calls are the actions that the server answers, by service.
func (s *Server) calls() map[string][]string {
	all := map[string][]string{
		"ec2": slices.Collect(maps.Keys(s.ec2)), "iam": slices.Collect(maps.Keys(s.iam)), "sts": slices.Collect(maps.Keys(s.sts)),
		"cloudformation": slices.Collect(maps.Keys(s.stacks)), "eks": {"DescribeCluster", "ListClusters"}, "arc-zonal-shift": {"GetManagedResource"},
	}
	for t := range s.json {
		prefix, action, _ := strings.Cut(t, ".")
		service := serviceOfTarget(prefix)
		all[service] = append(all[service], action)
	}
	return all
}

// Listen serves the account on an address such as "127.0.0.1:0" and runs its market until ctx ends.
// It returns the endpoint's URL, and a channel that is closed when everything has ended.
func (s *Server) Listen(ctx context.Context, address string) (string, <-chan struct{}, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("serve the simulated AWS: %w", err)
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var running sync.WaitGroup
	running.Go(func() { s.account.Market.Run(ctx) })
	running.Go(func() { _ = server.Serve(l) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done() // which ends the calls under way as well
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
		running.Wait()
	}()
	return "http://" + l.Addr().String(), done, nil
}

const (
	maxBody       = 8 << 20         // of a request
	shutdownGrace = 2 * time.Second // for calls under way when the server ends
)

// call is one request on its way.
type call struct {
	ctx     context.Context
	account *Account
	market  *market.Market
	id      string
	service string
	speech  speech
	action  string
	caller  caller
	form    url.Values
	body    []byte
	path    string
	host    string
	dry     bool
}

// answer is what goes back to the caller.
type answer struct {
	status int
	kind   string // content type
	body   []byte
	header map[string]string
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_tenon/") {
		s.control.ServeHTTP(w, r)
		return
	}
	c, err := s.read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	effect := s.rules.On(c.service, c.action, c.caller.role)
	if !wait(r.Context(), s.account.latency(c.service)+effect.Delay) || effect.Drop {
		panic(http.ErrAbortHandler)
	}
	reply, err := s.answer(c, effect)
	s.record(c, err, effect)
	if effect.Lose {
		panic(http.ErrAbortHandler) // the connection is cut: the caller never learns what became of its request
	}
	if err != nil {
		reply = refusal(c, err)
	}
	for k, v := range reply.header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", reply.kind)
	w.Header().Set("x-amzn-RequestId", c.id)
	w.WriteHeader(reply.status)
	_, _ = w.Write(reply.body)
}

// read finds out the caller, the action and the service.
func (s *Server) read(r *http.Request) (*call, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	c := &call{ctx: r.Context(), account: s.account, market: s.account.Market, body: body, path: r.URL.EscapedPath(), host: r.Host, id: s.account.Market.UUID("request")}
	c.caller = s.account.identify(r)
	c.service = serviceOf(r)
	c.speech = protocol(c.service, r)
	switch c.speech {
	case query:
		c.form, err = url.ParseQuery(string(body))
		if err != nil {
			return nil, fmt.Errorf("read the form: %w", err)
		}
		for k, v := range r.URL.Query() {
			c.form[k] = v
		}
		c.action = c.form.Get("Action")
		if c.service == "" {
			c.service = serviceOfAction(c.action)
		}
	case target:
		_, c.action, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		c.path = r.Header.Get("X-Amz-Target")
	case rest:
		c.action = restAction(c.service, r.Method, c.path)
	}
	return c, nil
}

// answer lets a call through the account's gates, in the order AWS has them, and does it.
func (s *Server) answer(c *call, effect fault.Effect) (answer, error) {
	if err := refused(c, effect.Refuse); err != nil {
		return answer{}, err
	}
	if s.market().Throttle(c.service, c.action) {
		return answer{}, throttled(c)
	}
	if c.caller.role != "" && c.service != "sts" && !s.market().Allowed(c.caller.role) {
		return answer{}, denied(c)
	}
	switch c.service {
	case "ec2":
		return s.answerEC2(c)
	case "iam":
		return answerQuery(c, s.iam, iamNamespace)
	case "sts":
		return answerQuery(c, s.sts, stsNamespace)
	case "cloudformation":
		return answerQuery(c, s.stacks, cfnNamespace)
	case "eks", "arc-zonal-shift":
		return answerREST(c)
	default:
		if c.speech == query {
			return s.answerQueue(c)
		}
		return s.answerJSON(c)
	}
}

func (s *Server) market() *market.Market { return s.account.Market }

// record keeps the call, with its parameters but for secrets and long texts.
func (s *Server) record(c *call, err error, effect fault.Effect) {
	kept := map[string]string{}
	for k, v := range c.form {
		switch {
		case k == "Action" || k == "Version" || strings.Contains(k, "WebIdentityToken"):
		case strings.HasSuffix(k, "UserData"):
			kept[k] = fmt.Sprintf("(%d characters)", len(v[0]))
		default:
			kept[k] = v[0]
		}
	}
	if c.form == nil && len(c.body) > 0 {
		kept["body"] = string(c.body[:min(len(c.body), 2048)])
	}
	if c.form == nil && c.speech == rest {
		kept["path"] = c.path
	}
	call := market.Call{Service: c.service, Action: c.action, Caller: c.caller.arn, Params: kept, DryRun: c.dry, Lost: effect.Lose}
	var refusal *market.Error
	if errors.As(err, &refusal) {
		call.Code = refusal.Code
	} else if err != nil {
		call.Code = err.Error()
	}
	s.market().Record(call)
}

// wait pauses a call; false if the caller has gone.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
