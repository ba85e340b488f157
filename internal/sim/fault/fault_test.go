package fault_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestRules(t *testing.T) {
	cases := map[string]struct {
		why   string
		rules []fault.Rule
		calls []string
		want  []string
	}{
		"OnceOnly": {
			why:   "A rule with a number of times is used up.",
			rules: []fault.Rule{{Service: "ec2", Action: "Describe*", Kind: fault.Throttle, Times: 2}},
			calls: []string{"DescribeImages", "CreateFleet", "DescribeSubnets", "DescribeImages"},
			want:  []string{"throttle", "", "throttle", ""},
		},
		"AfterAWhile": {
			why:   "The n-th call can be hit, so that a test can crash anywhere.",
			rules: []fault.Rule{{Action: "CreateFleet", Kind: fault.Lose, Skip: 1, Times: 1}},
			calls: []string{"CreateFleet", "CreateFleet", "CreateFleet"},
			want:  []string{"", "lose", ""},
		},
		"Both": {
			why:   "Rules add up: a call can be late and refused.",
			rules: []fault.Rule{{Kind: fault.Delay, Seconds: 1}, {Service: "ec2", Kind: fault.Deny}},
			calls: []string{"CreateFleet"},
			want:  []string{"1s deny"},
		},
		"OthersPass": {
			why:   "A rule for one caller leaves the rest alone.",
			rules: []fault.Rule{{Caller: "controller", Kind: fault.Drop}},
			calls: []string{"CreateFleet"},
			want:  []string{""},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var r fault.Rules
			for _, rule := range c.rules {
				r.Add(rule)
			}
			var got []string
			for _, action := range c.calls {
				got = append(got, words(r.On("ec2", action, "reader")))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func words(e fault.Effect) string {
	out := ""
	if e.Delay > 0 {
		out = e.Delay.Truncate(time.Second).String() + " "
	}
	switch {
	case e.Refuse != nil:
		return out + string(e.Refuse.Kind)
	case e.Lose:
		return out + "lose"
	case e.Drop:
		return out + "drop"
	default:
		return out
	}
}

// The rules of a call that somebody throttles for a while end by themselves; those without an end stay.
func TestRulesEnd(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := fault.Rules{Now: func() time.Time { return now }}
	r.Add(fault.Rule{Kind: fault.Throttle, Seconds: 20})
	r.Add(fault.Rule{Kind: fault.Delay, Seconds: 1})
	var got []string
	for range 3 {
		got = append(got, words(r.On("ec2", "CreateFleet", "")))
		now = now.Add(10 * time.Second)
	}
	if diff := cmp.Diff([]string{"1s throttle", "1s throttle", "1s "}, got); diff != "" {
		t.Errorf("every ten seconds -want +got\n%s", diff)
	}
	if left := r.List(); len(left) != 1 || left[0].Kind != fault.Delay {
		t.Errorf("rules left: %v", left)
	}
}

// What is written wrongly is refused with what would be right.
func TestRequests(t *testing.T) {
	rules := &fault.Rules{}
	h := fault.Handler("/", fault.Panel{Rules: rules, Market: usWest2(t), Calls: map[string][]string{"ec2": {"CreateFleet", "DescribeImages"}, "iam": {"GetRole"}}})
	tests := map[string]struct {
		why, call, body, want string
	}{
		"Text":     {"A command line has no types.", "POST /faults", `{"kind":"throttle","seconds":"20","times":"3"}`, `"times": 3`},
		"Swapped":  {"Letters that changed places are found.", "POST /kill", `{"instnace":"i-1"}`, `did you mean \"instance\"`},
		"Unknown":  {"What looks like nothing is told what there is.", "POST /faults", `{"colour":"red"}`, `it takes service, action, caller, kind, code, message, status, seconds, skip, times`},
		"NotOurs":  {"What is worked out is not the caller's to say.", "POST /faults", `{"kind":"deny","id":7}`, `there is no \"id\"`},
		"Fraction": {"Half a call is no number of calls.", "POST /faults", `{"kind":"deny","times":"0.5"}`, `times: it is a whole number, not 0.5`},
		"Kind":     {"A kind is one of a few.", "POST /faults", `{"kind":"throtle"}`, `kind must be throttle`},
		"NoType":   {"What is done to pools that are not sold does nothing.", "POST /capacity", `{"type":"m5.larg","left":0}`, `type: there is no \"m5.larg\" here: did you mean \"m5.large\"?`},
		"NoZone":   {"A zone of another region is none.", "POST /capacity", `{"zone":"eu-central-1a","left":0}`, `zone: there is no \"eu-central-1a\" here: it is one of us-west-2a, us-west-2b`},
		"NoPrice":  {"A price has to be said.", "POST /price", `{"type":"m5.large"}`, `say price=DOLLARS, or factor=TIMES, of which 1 ends it`},
		"NoLeft":   {"How many are left has to be said.", "POST /capacity", `{"type":"m5.large"}`, `say left=NUMBER`},
		"Left":     {"None is a number.", "POST /capacity", `{"type":"m5.large","left":"0"}`, `"ok": true`},
		"Lift":     {"What is lifted has to be there, too.", "DELETE /capacity", `{"type":"m5.larg"}`, `did you mean \"m5.large\"?`},
		"NoAction": {"A rule for a call that is never made would wait for ever.", "POST /faults", `{"kind":"deny","action":"CreateFlet"}`, `no \"CreateFlet\" is ever called: did you mean \"CreateFleet\"?`},
		"Action":   {"An action may be one,", "POST /faults", `{"kind":"deny","action":"CreateFleet","times":1}`, `"id":`},
		"Pattern":  {"or a pattern,", "POST /faults", `{"kind":"deny","action":"Describe*","times":1}`, `"id":`},
		"Matches":  {"but one that some call matches.", "POST /faults", `{"kind":"deny","action":"Fly*"}`, `it may be several of CreateFleet, DescribeImages, GetRole`},
		"Another":  {"An action is one of its service.", "POST /faults", `{"kind":"deny","service":"iam","action":"CreateFleet"}`, `no \"CreateFleet\" is ever called`},
		"Service":  {"A service is one of a few.", "POST /faults", `{"kind":"deny","service":"ec3"}`, `service: there is no \"ec3\" here: it is one of ec2, iam`},
		"NoCall":   {"A limit is one of a call", "POST /limit", `{"call":"CreateFleet","burst":1,"rate":1}`, `say call=SERVICE:ACTION`},
		"Limit":    {"that is made.", "POST /limit", `{"call":"ec2:CreateFlet","burst":1,"rate":1}`, `did you mean \"CreateFleet\"?`},
		"Bucket":   {"A quota is one of those there are.", "POST /quota", `{"bucket":"standart","vcpus":4}`, `did you mean \"standard\"?`},
		"NoQuota":  {"A quota has a number.", "POST /quota", `{"bucket":"standard"}`, `say bucket=NAME and vcpus=NUMBER`},
		"Check":    {"A status check is one of two.", "POST /impair", `{"instance":"i-1","check":"systme"}`, `did you mean \"system\"?`},
		"NoShift":  {"A shift has a zone that is there.", "POST /zone", `{"zone":"us-west-2x","minutes":1}`, `there is no \"us-west-2x\" here`},
		"Minutes":  {"How long it lasts has to be said.", "POST /zone", `{"zone":"us-west-2a"}`, `minutes=NUMBER`},
		"NoRule":   {"Rules are lifted by number.", "DELETE /faults?id=first", ``, `it is the number of a rule`},
		"Gone":     {"What is not in force is not lifted.", "DELETE /faults?id=99", ``, `id=99: no such rule is in force`},
		"AllRules": {"All are lifted where there are none, too.", "DELETE /faults", ``, `"ok": true`},
		"Negative": {"A rule that ended before it began would hold for ever.", "POST /faults", `{"kind":"throttle","seconds":"-5"}`, `cannot be below 0`},
		"NoTarget": {"What happens to a machine happens to one.", "POST /interrupt", `{}`, `say which machine: instance=ID`},
		"NotSold":  {"A reservation is of a type that is sold,", "POST /reservation", `{"type":"m5.larg","zone":"us-west-2a","count":1}`, `did you mean \"m5.large\"?`},
		"Abroad":   {"and in a zone of this region.", "POST /reservation", `{"type":"m5.large","zone":"us-east-1a","count":1}`, `zone: there is no \"us-east-1a\" here`},
		"NoBody":   {"SQS takes no empty message.", "POST /message", `{}`, `say what the message is: body=TEXT`},
		"Refund":   {"Nothing costs less than nothing.", "POST /price", `{"type":"m5.large","price":"-1"}`, `say price=DOLLARS`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(tc.call, " ")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(tc.body)))
			if got := w.Body.String(); !strings.Contains(got, tc.want) {
				t.Errorf("%s got %s, want %s in it", tc.why, got, tc.want)
			}
		})
	}
}

// usWest2 is a market that sells one type.
func usWest2(t *testing.T) *market.Market {
	t.Helper()
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	return driver.Market(region, "m5.large")
}
