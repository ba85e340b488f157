package replay_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/replay"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/web"
)

func run(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	cmd := replay.Command()
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(in))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// small is a World of a few pods that wait and of few types.
func small(w *world.World) *world.World {
	b := w.Edit()
	c := *w.Catalogs()[0]
	c.Shapes = c.Shapes[:20]
	if err := b.SetCatalog(c); err != nil {
		panic(err)
	}
	return b.Snapshot(w.At())
}

// entry is a decision about a few pods.
func entry() journal.Entry {
	w := small(enginetest.Apps(20))
	return journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{}), Release: "v1"}
}

func lines(t *testing.T, entries ...journal.Entry) string {
	t.Helper()
	var b bytes.Buffer
	for _, e := range entries {
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// fixed is a decision about two static pools, one of which wants more types than there are.
func fixed(t *testing.T) journal.Entry {
	t.Helper()
	s := enginetest.NewScene()
	for _, line := range []string{"type small cpu=2 memory=4Gi price=0.10", "pool p replicas=1", "pool q replicas=1 require=type:Exists:/2"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return journal.Entry{Kind: journal.Static, World: s.World(), Plan: static.Decide(s.World(), static.Options{})}
}

func TestReplay(t *testing.T) {
	other := entry()
	other.Plan.Cost += 1_000_000
	other.Plan.New = other.Plan.New[1:]
	broke := entry()
	broke.Panic = "index out of range\nstack"
	empty := world.NewBuilder().Snapshot(5)
	bare, err := json.Marshal(empty)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		why, in string
		args    []string
		want    []string
		status  int
	}{
		"Same":      {"This program decides as it did.", lines(t, entry(), entry()), []string{"--check"}, []string{"provisioner  same", "2 decisions made again: 2 the same."}, verb.OK},
		"Different": {"What is otherwise is shown.", lines(t, other), nil, []string{"provisioner  different", "-$1.", "+1 new general", "0 the same, 1 different"}, verb.OK},
		"Checked":   {"A script is told by the status.", lines(t, other), []string{"--check"}, []string{"1 different"}, verb.Failed},
		"Broke":     {"What went wrong then is told.", lines(t, broke), nil, []string{"broke when it was made: index out of range"}, verb.OK},
		"Bare":      {"A World alone has nothing to compare with.", string(bare), nil, []string{"no plan", "1 without a plan to compare"}, verb.OK},
		"GiveBack":  {"What was given back is decided again as that.", lines(t, journal.Entry{Kind: journal.GiveBack, World: empty}), nil, []string{"disruption   same"}, verb.OK},
		"Static":    {"What static pools asked for, too.", lines(t, fixed(t)), []string{"--check"}, []string{"static       same", "1 asked for static pools; 1 cannot be asked for"}, verb.OK},
		"MinValues": {"They do so by the policy that is tried.", lines(t, fixed(t)), []string{"--min-values-policy", "BestEffort"}, []string{"static       different", "+1 new q"}, verb.OK},
		"Earlier":   {"What an earlier release decided in parts is named, and not made again.", earlier(t, "consolidation"), []string{"--check"}, []string{"consolidation refused", "an earlier release kept it", "1 of an earlier release"}, verb.OK},
		"Bought":    {"What it bought is made again.", strings.Replace(lines(t, entry()), "tenon-decision/v2", "tenon-decision/v1", 1), nil, []string{"provisioner  same"}, verb.OK},
		"Judged":    {"How commands stand is decided again, too.", lines(t, judged(t)), []string{"--check"}, []string{"disruption   same", "1 taken back"}, verb.OK},
		"Misjudged": {"If they stand otherwise, that is shown.", lines(t, misjudged(t)), nil, []string{"disruption   different", "take-back"}, verb.OK},
		"Nothing":   {"Nothing kept is no success.", "", nil, []string{""}, verb.Unusable},
		"Other":     {"Another file is not replayed.", `{"format":"x"}`, nil, nil, verb.Unusable},
		"Policy":    {"A policy has two values.", lines(t, entry()), []string{"--preference-policy", "Maybe"}, nil, verb.Unusable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, tc.in, append([]string{"-"}, tc.args...)...)
			if verb.Status(err) != tc.status {
				t.Errorf("%s\nstatus %d, want %d: %v", tc.why, verb.Status(err), tc.status, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("%s\nthe answer lacks %q:\n%s", tc.why, want, out)
				}
			}
		})
	}
}

// Where no decision is found it is said what was looked at and where there are decisions.
func TestNothingKept(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept.json")
	if err := os.WriteFile(kept, []byte(lines(t, entry())), 0o600); err != nil {
		t.Fatal(err)
	}
	idle := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer idle.Close()
	const want = " is empty: want a journal, as a controller gives at /journal, or the world of a decision"
	for from, says := range map[string]string{
		empty:       empty + want,
		"-":         "standard input" + want,
		t.TempDir(): " holds no decision: want that of a controller's --journal-dir, whose files end in .json.gz, or files that end in .json",
		idle.URL:    "the controller has kept no decision yet",
	} {
		if _, err := run(t, "", kept, from); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), says) {
			t.Errorf("of %s it says %v, want %q", from, err, says)
		}
	}
}

// A node that goes is decided about with each look until its claim ends. That is one line, and each of them where it is asked for.
func TestOneNodeIsOneLine(t *testing.T) {
	at := func(second int64, claims ...string) journal.Entry {
		b := world.NewBuilder()
		for _, c := range claims {
			id := world.PoolID{Kind: world.NodePool, Name: "p"}
			for _, err := range []error{
				b.SetPool(world.Pool{ID: id, Disruption: world.PoolDisruption{EmptyAfter: new(int64(0))}}),
				b.SetClaim(world.Claim{Name: c, Pool: id, Node: "of-" + c, Initialized: true}),
				b.SetNode(world.Node{Name: "of-" + c, Pool: id, Claim: c, Ready: true}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		w := b.Snapshot(1_800_000_000 + second)
		return journal.Entry{Kind: journal.GiveBack, World: w, Plan: disrupt.Decide(w, disrupt.Options{})}
	}
	in := lines(t, at(1, "a"), at(2, "a"), at(3, "a"), at(4, "b"), entry(), at(5, "b"))
	tests := map[string]struct {
		why  string
		args []string
		want int
		has  string
	}{
		"Text": {"A line for each that was decided.", nil, 4, "1 given back (3 decisions until 08:00:03, while it was carried out)\n"},
		"Wide": {"Every decision.", []string{"-o", "wide"}, 6, "1 given back\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, in, append([]string{"-"}, tc.args...)...)
			if err != nil || strings.Count(out, "  same  ") != tc.want || !strings.Contains(out, tc.has) || !strings.Contains(out, "6 decisions made again: 6 the same.") {
				t.Errorf("%s\nwant %d lines and %q, got (%v):\n%s", tc.why, tc.want, tc.has, err, out)
			}
		})
	}
}

// earlier is a decision as releases kept it that decided in parts about giving back.
func earlier(t *testing.T, kind string) string {
	t.Helper()
	w, err := json.Marshal(world.NewBuilder().Snapshot(5))
	if err != nil {
		t.Fatal(err)
	}
	return `{"format":"tenon-decision/v1","kind":"` + kind + `","options":{"consolidate":{"spotToSpot":true}},"plan":{"world":"w","at":5,"back":[{"claim":"a"}]},"world":` + string(w) + "}\n"
}

// judged is a decision about a command that has begun and whose pool is gone.
func judged(t *testing.T) journal.Entry {
	t.Helper()
	b := world.NewBuilder()
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	for _, err := range []error{
		b.SetClaim(world.Claim{Name: "c", Pool: id, Node: "n", Initialized: true, Going: plan.Underutilized}),
		b.SetNode(world.Node{Name: "n", Pool: id, Claim: "c", Ready: true, Taints: []world.Taint{begun.Mark()}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, o := b.Snapshot(1_800_000_000), disrupt.Options{Only: []disrupt.Part{disrupt.Judging, disrupt.Idling}, Marked: map[string]int64{"n": 5000}}
	return journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}, Plan: disrupt.Decide(w, o)}
}

// misjudged is the same, of which it is said that the command was carried on.
func misjudged(t *testing.T) journal.Entry {
	t.Helper()
	e := judged(t)
	e.Plan.Commands[0].Verdict = plan.CarryOn
	return e
}

// A controller's address, a folder and a file hold the same decisions.
func TestSources(t *testing.T) {
	j := journal.New(3, "v1", nil)
	j.Add(entry())
	pages := web.Handler(web.Config{Decisions: j, World: func() *world.World { return nil }})
	s := httptest.NewServer(pages)
	defer s.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(lines(t, entry())), 0o600); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, from := range []string{s.URL, s.URL + "/", dir, filepath.Join(dir, "a.json")} {
		out, err := run(t, "", from, "-o", "json")
		if err != nil {
			t.Errorf("%s: %v", from, err)
		}
		if first == "" {
			first = out
		}
		if out != first || !strings.Contains(out, `"identical": true`) {
			t.Errorf("%s gives\n%s\nand the first gives\n%s", from, out, first)
		}
	}
	if _, err := run(t, "", s.URL+"/nothing"); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), http.StatusText(http.StatusNotFound)) {
		t.Errorf("an address without decisions: %v", err)
	}
}

// Other settings than the controller's give the plan they would have given.
func TestOtherSettings(t *testing.T) {
	w := small(enginetest.Wishful(40))
	e := journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})}
	if len(e.Plan.GivenUp) == 0 {
		t.Fatal("no preference is given up, so nothing can be seen here")
	}
	out, err := run(t, lines(t, e), "-", "--preference-policy", "Ignore")
	if err != nil || !strings.Contains(out, "provisioner  different") {
		t.Errorf("without preferences the plan is the same: %v\n%s", err, out)
	}
}

// recorded is a recording of decisions in a file, of which the second and third are otherwise than what is decided now.
func recorded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.rec")
	f, err := record.OpenFile(path, record.LeastLimit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(6) {
		e := entry()
		b := e.World.Edit()
		if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprint("<script>\x1b[2J", i)}, UID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		e.World = b.Snapshot(1_800_000_000 + 3600*i)
		e.Plan = e.Again()
		if i == 1 || i == 2 {
			e.Plan.New, e.Plan.Cost = slices.Clone(e.Plan.New), e.Plan.Cost+1_000_000
			e.Plan.New[0].Price += 1_000_000
			e.Plan.New[0].Shape = "<script>\x1b[2J"
		}
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A recording is decided again, and what that comes to is told as text, JSON and a page, whatever things are called.
func TestRecording(t *testing.T) {
	path := recorded(t)
	page := filepath.Join(t.TempDir(), "page.html")
	out, err := run(t, "", path, "--html", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 decisions made again: 4 the same, 2 different.", "From 2027-01-15 08:00:00 to 2027-01-15 13:00:00 UTC, 5h0m0s", "machines bought", "is estimated"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;script&gt;", "Decisions that come out otherwise", "default-src 'none'", "2 different"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page has no %q: %s", want, data)
		}
	}
	for _, not := range []string{"<script", "\x1b", "http://", "https://", "src=", "NaN"} {
		if strings.Contains(string(data), not) {
			t.Errorf("the page has %q", not)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("a control sequence is written to the terminal")
	}
	out, err = run(t, "", path, "-o", "json", "--node-charge", "0.5", "--consolidation-level", "eager", "--spot-to-spot")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		With map[string]string
		Day  struct {
			Currency           string
			Recorded, Replayed struct{ Bought int }
			Curve              []struct{}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.With["node-charge"] != "0.5" || got.With["spot-to-spot"] != "true" || got.Day.Recorded.Bought == 0 || got.Day.Replayed.Bought >= got.Day.Recorded.Bought || len(got.Day.Curve) != 6 {
		t.Errorf("with a charge it says %.1000s", out)
	}
	out, err = run(t, "", path, "--scrub", "-o", "wide")
	if err != nil || strings.Contains(out, "default/") || !strings.Contains(out, "6 decisions made again") {
		t.Errorf("scrubbed it says %s (%v)", out, err)
	}
}

// A recording that is cut off is replayed as far as it is sound, and says so; wrong settings are refused.
func TestRecordingsThatAreNotWhole(t *testing.T) {
	path := recorded(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.rec")
	if err := os.WriteFile(cut, data[:len(data)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, "", cut); err != nil || !strings.Contains(out, "the 5 decisions before that are sound and were read") || !strings.Contains(out, "5 decisions made again") {
		t.Errorf("cut off it says %s (%v)", out, err)
	}
	if out, err := run(t, string(data), "-"); err != nil || !strings.Contains(out, "6 decisions made again") {
		t.Errorf("of standard input it says %s (%v)", out, err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, packed.String(), "-"); err != nil || !strings.Contains(out, "6 decisions made again") || strings.Contains(out, "note:") {
		t.Errorf("compressed it says %s (%v)", out, err)
	}
	if out, err := run(t, packed.String()[:packed.Len()*9/10], "-"); err != nil || !strings.Contains(out, "it ends in the middle of an entry") {
		t.Errorf("compressed and cut off it says %s (%v)", out, err)
	}
	if err := os.WriteFile(cut, data[:19], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "", cut); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), "is a recording, and no decision was recorded yet") {
		t.Errorf("of one that has only begun it says %v", err)
	}
	if err := os.WriteFile(cut, data[:9], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "", cut); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), "it is cut off in its first line") {
		t.Errorf("of its first bytes it says %v", err)
	}
	if err := os.WriteFile(cut, []byte("tenon-recording/v7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "", cut); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), "read it with the release that wrote it") {
		t.Errorf("of a later version it says %v", err)
	}
	for _, args := range [][]string{{"--node-charge", "x"}, {"--node-charge", "-1"}, {"--spot-premium", "-1"}, {"--consolidation-level", "mad"}, {"--steps", "-1"}} {
		if _, err := run(t, "", append(args, path)...); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: it says %v", args, err)
		}
	}
}
