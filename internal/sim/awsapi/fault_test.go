package awsapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// control makes a call of the control interface and decodes the answer, if anyone wants it.
func (w world) control(t *testing.T, method, path, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+"/_tenon/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Body.Close() }()
	text, err := io.ReadAll(out.Body)
	if err != nil || out.StatusCode != http.StatusOK {
		t.Fatalf("%s %s gave %d %s %v", method, path, out.StatusCode, text, err)
	}
	if into != nil {
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLostAnswersAreFoundByToken(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	w.control(t, "POST", "faults", `{"service":"ec2","action":"CreateFleet","kind":"lose","times":1}`, nil)
	in := fleet("demo-1", 2, types.DefaultTargetCapacityTypeOnDemand, override(d, "m5.large", 0))
	in.ClientToken = aws.String("order-9")
	if _, err := w.once().CreateFleet(t.Context(), in); err == nil {
		t.Fatal("the answer was to be lost")
	}
	if n := len(w.Market.Instances()); n != 2 {
		t.Fatalf("%d machines exist after the lost answer, want 2", n)
	}
	got := of(w.once().CreateFleet(t.Context(), in)).must(t)
	if n := len(w.Market.Instances()); n != 2 || len(got.Instances[0].InstanceIds) != 2 {
		t.Errorf("%d machines exist after asking again, want the same 2", n)
	}
	var calls []market.Call
	w.control(t, "GET", "calls?action=CreateFleet", "", &calls)
	if len(calls) != 2 || !calls[0].Lost || calls[1].Lost || calls[0].Params["ClientToken"] != "order-9" {
		t.Errorf("the recorded calls are %+v", calls)
	}
}

func TestFaultsOfCalls(t *testing.T) {
	w := serve(t, nil)
	cases := map[string]struct{ rule, want string }{
		"Throttle": {`{"action":"Describe*","kind":"throttle","times":1}`, "RequestLimitExceeded"},
		"Deny":     {`{"service":"ec2","kind":"deny","times":1}`, "UnauthorizedOperation"},
		"Expire":   {`{"kind":"expire","times":1}`, "RequestExpired"},
		"Fail":     {`{"kind":"fail","code":"VcpuLimitExceeded","message":"no more","times":1}`, "VcpuLimitExceeded"},
		"Server":   {`{"kind":"fail","times":1}`, "InternalError"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.control(t, "POST", "faults", c.rule, nil)
			_, err := w.once().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
			if code(err) != c.want {
				t.Errorf("the call gave %v, want %s", err, c.want)
			}
			of(w.once().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})).must(t)
		})
	}
}

// The clock is the test's own: tokens come back as it says, however long the calls take.
func TestTheRealLimitsThrottle(t *testing.T) {
	var passed atomic.Int64
	w := serve(t, func(c *awsapi.Config) {
		c.Limits = nil
		c.Now = func() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, int(passed.Load()), time.UTC) }
	})
	calls := map[string]struct {
		call        func() error
		burst, rate int // as Limits has them
	}{
		"TerminateInstances": {func() error {
			_, err := w.once().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{"i-0"}, DryRun: aws.Bool(true)})
			return err
		}, 100, 5},
		"DescribeSubnets": {func() error {
			_, err := w.once().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
			return err
		}, 100, 20},
	}
	through := func(name string, n int) (out int) {
		for range n {
			if code(calls[name].call()) != "RequestLimitExceeded" {
				out++
			}
		}
		return out
	}
	for name, c := range calls {
		if n := through(name, c.burst+10); n != c.burst {
			t.Errorf("%d calls of %s were let through at once, want %d", n, name, c.burst)
		}
	}
	passed.Store(int64(time.Second))
	for name, c := range calls {
		if n := through(name, c.rate+10); n != c.rate {
			t.Errorf("%d calls of %s were let through a second later, want %d", n, name, c.rate)
		}
	}
}

func TestControlInterface(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	w.control(t, "POST", "capacity", `{"zone":"`+*d.subnets[0].AvailabilityZone+`","left":0}`, nil)
	w.control(t, "POST", "price", `{"type":"c5.large","capacityType":"spot","price":0.0123}`, nil)
	got := of(w.once().CreateFleet(t.Context(), fleet("demo-1", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0), override(d, "c5.large", 1)))).must(t)
	if len(got.Errors) > 0 || got.Instances[0].InstanceType != "c5.large" {
		t.Errorf("got %+v, want the type made cheap", got)
	}
	id := got.Instances[0].InstanceIds[0]
	w.control(t, "POST", "impair", `{"instance":"`+id+`","check":"system"}`, nil)
	eventually(t, "the status check fails", func() bool {
		out := of(w.once().DescribeInstanceStatus(t.Context(), &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}})).must(t)
		return len(out.InstanceStatuses) == 1 && out.InstanceStatuses[0].SystemStatus.Status == types.SummaryStatusImpaired
	})
	w.control(t, "POST", "kill", `{"instance":"`+id+`"}`, nil)
	var state struct{ Instances map[string]int }
	w.control(t, "GET", "state", "", &state)
	if state.Instances["terminated"] != 1 {
		t.Errorf("the state is %+v, want one machine terminated", state)
	}
	before := len(w.Market.Images())
	w.control(t, "POST", "release", `{"family":"AL2023"}`, nil)
	if n := len(w.Market.Images()) - before; n != 5 {
		t.Errorf("%d images released, want 5", n)
	}
	var made struct {
		ID   string
		Left int
		Tags map[string]string
	}
	w.control(t, "POST", "reservation", `{"type":"m5.large","zone":"`+*d.subnets[0].AvailabilityZone+`","count":2,"tag":"team=ml"}`, &made)
	if made.ID == "" || made.Left != 2 || made.Tags["team"] != "ml" {
		t.Errorf("reserved %+v", made)
	}
	w.control(t, "DELETE", "reservation?id="+made.ID, "", nil)
	var all []struct{ ID, State string }
	w.control(t, "GET", "reservations", "", &all)
	if len(all) != 1 || all[0].ID != made.ID || all[0].State != "cancelled" {
		t.Errorf("the reservations are %+v, want one that is cancelled", all)
	}
	w.control(t, "POST", "reset", `{}`, nil)
	if n := len(w.Market.Rules()); n != 0 {
		t.Errorf("%d rules are left after a reset", n)
	}
	var help []map[string]string
	w.control(t, "GET", "", "", &help)
	if len(help) < 15 {
		t.Errorf("the interface explains %d calls", len(help))
	}
}
