package web_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web"
)

func scene(t *testing.T) *world.World {
	t.Helper()
	b := world.NewBuilder()
	cpu := func(n int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: n}, amount.Entry{Name: amount.Pods, Value: 1000})
	}
	for _, err := range []error{
		b.SetNode(world.Node{Name: "n<1>", Ready: true, Labels: map[string]string{label.InstanceType: "m5.large"}, Allocatable: cpu(2000)}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "runs"}, Node: "n<1>", Requests: cpu(500)}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "waits"}, Waiting: true, Requests: cpu(9000)}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot(1_800_000_000)
}

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.Code, string(body)
}

func TestPages(t *testing.T) {
	w := scene(t)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: "provision", World: w, Plan: provision.Decide(w, provision.Options{})})
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	tests := map[string]struct {
		why, path string
		code      int
		holds     []string
	}{
		"Cluster":   {"A node's name is text, not markup, and every waiting pod has its verdict.", "/", 200, []string{"n&lt;1&gt;", "25 %", "d/waits", "no-pool", `href="/decisions/` + w.Digest(), "<b>1</b><span>node ready<", "<b>1</b><span>pod on nodes<", "<b>1</b><span>pod without a place<"}},
		"Decisions": {"Each decision links to its page.", "/decisions/", 200, []string{w.Digest(), "2027-01-15"}},
		"Decision":  {"The page says what the text says.", "/decisions/" + w.Digest(), 200, []string{"1 pod waiting", "tenon plan -f world.json"}},
		"JSON":      {"Programs get the plan as JSON.", "/decisions/" + w.Digest() + "?o=json", 200, []string{`"format":"tenon-plan/v1"`}},
		"Unknown":   {"What is not kept any more is said to be so.", "/decisions/sha256:0", 404, []string{"no such decision"}},
		"Elsewhere": {"There is nothing else.", "/secrets", 404, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := get(t, h, tc.path)
			if code != tc.code {
				t.Fatalf("%s\nstatus %d, want %d", tc.why, code, tc.code)
			}
			for _, want := range tc.holds {
				if !strings.Contains(body, want) {
					t.Errorf("%s\nthe page lacks %q:\n%s", tc.why, want, body)
				}
			}
			if strings.Contains(body, "%!") {
				t.Errorf("a value is missing, or of another kind:\n%s", body)
			}
		})
	}
	var kept []journal.Entry
	_, all := get(t, h, "/journal")
	if err := journal.Read(strings.NewReader(all), func(e journal.Entry) error { kept = append(kept, e); return nil }); err != nil || len(kept) != 1 || kept[0].World.Digest() != w.Digest() {
		t.Errorf("the journal holds %d decisions: %v", len(kept), err)
	}
	_, data := get(t, h, "/decisions/"+w.Digest()+"/world")
	back, err := world.Read([]byte(data))
	if err != nil || back.Digest() != w.Digest() {
		t.Errorf("the world does not come back: %v", err)
	}
}

// A node that is marked to go is shown with the reason of the decision, and a link to it.
func TestWhatIsGivenBack(t *testing.T) {
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := scene(t).Edit()
	for _, err := range []error{
		b.SetClaim(world.Claim{Name: "c", Pool: pool, Node: "idle", Registered: true}),
		b.SetNode(world.Node{Name: "idle", Pool: pool, Claim: "c", Ready: true, Taints: []world.Taint{{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(1_800_000_001)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.GiveBack, World: w, Plan: plan.Plan{Commands: []plan.Command{{Reason: plan.Empty, Verdict: plan.CarryOn, Begun: true, Back: []plan.Give{{Claim: "c", Node: "idle", Pool: pool, Reason: "Empty"}}}}}})
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	if _, body := get(t, h, "/"); !strings.Contains(body, `<a href="/decisions/`+w.Digest()+`">Empty</a>`) || !strings.Contains(body, "takes no more pods") {
		t.Errorf("the page does not say why the node goes:\n%s", body)
	}
	if _, body := get(t, h, "/decisions/"+w.Digest()); !strings.Contains(body, "<td>idle</td><td>p</td><td>Empty</td>") {
		t.Errorf("the decision does not name the node:\n%s", body)
	}
}

// Refusals that differ only where their cards do not reach are one card, with the reasons of each.
func TestCardsThatLookAlike(t *testing.T) {
	refused := func(pod string, last string) plan.Refusal {
		why := &reason.Why{Code: reason.NoPlace}
		for _, subject := range []string{"NodePool a", "NodePool b", "NodePool c", last} {
			why.Causes = append(why.Causes, &reason.Why{Code: reason.Taint, Subject: subject, Detail: "t:NoSchedule"})
		}
		return plan.Refusal{Pod: world.Key{Namespace: "d", Name: pod}, Why: why}
	}
	w := scene(t)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: plan.Plan{Waiting: 3, Refused: []plan.Refusal{refused("one", "node x"), refused("two", "node y"), refused("three", "node y")}}})
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	_, body := get(t, h, "/decisions/"+w.Digest())
	if n := strings.Count(body, `<details class="v"><summary><span class="tag refused">`); n != 1 || !strings.Contains(body, "3 pods") {
		t.Errorf("%d cards, want one of 3 pods:\n%s", n, body)
	}
	for _, want := range []string{"node x", "node y", "d/one", "d/two, d/three"} {
		if !strings.Contains(body, want) {
			t.Errorf("the card lacks %q:\n%s", want, body)
		}
	}
}

// A node that goes without a decision is shown with the reason for which its
// claim was deleted, and with what can be said where that is not known.
func TestWhatIsGoneOtherwise(t *testing.T) {
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := scene(t).Edit()
	for _, name := range []string{"died", "other"} {
		for _, err := range []error{
			b.SetClaim(world.Claim{Name: "claim-" + name, Pool: pool, Node: name, Registered: true, Deleting: true}),
			b.SetNode(world.Node{Name: name, Pool: pool, Claim: "claim-" + name, Ready: true, Deleting: true}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	w := b.Snapshot(1_800_000_001)
	h := web.Handler(web.Config{Decisions: journal.New(1, "v1", nil), World: func() *world.World { return w }, Deleted: func(claim string) string {
		return map[string]string{"claim-died": "its machine is gone"}[claim]
	}})
	_, body := get(t, h, "/")
	for _, want := range []string{
		"<tr><td>died</td><td>p</td><td></td><td>its machine is gone</td>",
		"<tr><td>other</td><td>p</td><td></td><td>deleted by another client, or before this controller began</td>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
}

// A decision says why a machine is of its type, and which types were left out.
func TestWhyAType(t *testing.T) {
	w := scene(t)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: plan.Plan{New: []plan.Ask{{
		Name: "p-1", Shape: "m5.large", Why: plan.Choosing{Binds: "cpu", RunnerUp: "m5a.large", RunnerUpPrice: 86_000, LeftOut: "g4dn.xlarge, m5.metal"},
	}}}})
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	_, body := get(t, h, "/decisions/"+w.Digest())
	for _, want := range []string{"cpu leaves no room for a smaller one; the next best is m5a.large", "; left out, since no pod needs them: g4dn.xlarge, m5.metal"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
}

// A pod that goes to a node that is known by its claim as well is told the node's name alone.
func TestNamesStandApart(t *testing.T) {
	w := scene(t)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: plan.Plan{Waiting: 1, Filled: []plan.Fill{{Node: "node-a", Claim: "claim-a", Pods: []world.Key{{Namespace: "d", Name: "waits"}}}}}})
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	for _, path := range []string{"/", "/decisions/" + w.Digest()} {
		if _, body := get(t, h, path); strings.Contains(body, "node-aclaim-a") || !strings.Contains(body, "node-a") {
			t.Errorf("%s glues names together:\n%s", path, body)
		}
	}
}

// Decisions that changed nothing are counted in the list.
func TestQuietDecisions(t *testing.T) {
	w := scene(t)
	j := journal.New(10, "v1", nil)
	for at := range int64(4) {
		j.Add(journal.Entry{Kind: journal.Buy, World: w.Edit().Snapshot(1_800_000_000 + at)})
	}
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	if _, body := get(t, h, "/decisions/"); strings.Count(body, "What to buy") != 1 || !strings.Contains(body, "before it 3 decisions of this kind that changed nothing") {
		t.Errorf("the list does not count those that changed nothing:\n%s", body)
	}
}

func TestNotSyncedYet(t *testing.T) {
	h := web.Handler(web.Config{Decisions: journal.New(1, "v1", nil), World: func() *world.World { return nil }})
	if code, body := get(t, h, "/"); code != http.StatusServiceUnavailable || !strings.Contains(body, "try again") {
		t.Errorf("status %d: %s", code, body)
	}
}

// What would be decided of now is told with its options by the replica that decides, and by no other.
func TestNow(t *testing.T) {
	w := scene(t)
	leads := false
	next := func() (journal.Entry, bool) {
		return journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Provision: provision.Options{SpotPremium: 7}}}, leads
	}
	leader := ""
	h := web.Handler(web.Config{Decisions: journal.New(1, "v1", nil), World: func() *world.World { return w }, Next: next, Leader: func() string { return leader }})
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/now", nil))
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "another one leads") {
		t.Errorf("a replica that does not decide answers %d %s", answer.Code, answer.Body)
	}
	leader = "karpenter/karpenter-1"
	for _, path := range []string{"/now", "/", "/decisions/"} {
		answer = httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if want := "but karpenter-1 does: kubectl port-forward -n karpenter pod/karpenter-1 8080"; !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s of a replica that does not decide does not say %q: %s", path, want, answer.Body)
		}
	}
	if n := connections(t, h, "/now", 2); n != 2 {
		t.Errorf("asked again, it was asked through %d connections, so never another replica", n)
	}
	leads = true
	if n := connections(t, h, "/now", 2); n != 1 {
		t.Errorf("the one that decides is asked through %d connections", n)
	}
	answer = httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/now", nil))
	n := 0
	err := journal.Read(answer.Body, func(e journal.Entry) error {
		if n++; e.World.Digest() != w.Digest() || e.Options.Provision.SpotPremium != 7 {
			t.Errorf("it tells of the world %s, and of the options %+v", e.World.Digest(), e.Options)
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("it tells of %d worlds: %v", n, err)
	}
}

// What is said of several pods reads as of several, prices have the digits of the log, and of a cost that is proven
// wholly nothing is left unknown.
func TestWordsOfSeveralPods(t *testing.T) {
	w, j := cluster(t, 20)
	h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
	_, body := get(t, h, "/")
	for _, want := range []string{"7 pods\n<span class=\"soft\">to go to a new ", ">0.0320<"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	if _, body := get(t, h, "/decisions/"+j.All()[0].World.Digest()); !strings.Contains(body, "<b>100.0 %</b><span>of the cost proven necessary</span>") {
		t.Errorf("the decision says\n%s", body)
	}
}

// connections is how many connections of HTTP/2 it takes to ask one thing several times, one after the other.
func connections(t *testing.T, h http.Handler, path string, times int) int {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	for range times {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.ProtoMajor != 2 {
			t.Fatalf("%s: %v", answer.Proto, err)
		}
		answer.Body.Close()
	}
	return int(n.Load())
}
