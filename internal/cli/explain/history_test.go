package explain_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/explain"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

func asked(args ...string) (string, error) {
	cmd := explain.Command()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// life is a recording of a pod that is refused, placed, moved and gone.
func life(t *testing.T) string {
	t.Helper()
	key := world.Key{Namespace: "shop", Name: "web"}
	pool := world.PoolID{Kind: world.NodePool, Name: "general"}
	claim := world.Claim{Name: "general-x", Pool: pool, Created: 120}
	at := func(second int64, kind string, pod *world.Pod, c *world.Claim, p plan.Plan) journal.Entry {
		b := world.NewBuilder()
		if pod != nil {
			pod.Key, pod.UID, pod.Created = key, "u", 60
			if err := b.SetPod(*pod); err != nil {
				t.Fatal(err)
			}
		}
		if c != nil {
			if err := b.SetClaim(*c); err != nil {
				t.Fatal(err)
			}
			if c.Node != "" {
				if err := b.SetNode(world.Node{Name: c.Node, Claim: c.Name, Pool: pool}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return journal.Entry{Kind: kind, World: b.Snapshot(second), Plan: p}
	}
	waits := func() *world.Pod { return &world.Pod{Waiting: true, Planned: "general-x"} }
	refused := plan.Plan{Refused: []plan.Refusal{{Pod: key, Why: &reason.Why{Code: reason.Taint, Subject: "n1", Detail: "gpu\x1b[2J"}}}}
	ready := claim
	ready.Node, ready.Launched, ready.Registered, ready.Initialized, ready.InitializedAt = "n2", true, true, true, 165
	path := filepath.Join(t.TempDir(), "a.rec")
	f, err := record.OpenFile(path, record.LeastLimit)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []journal.Entry{
		at(61, journal.Buy, waits(), nil, refused),
		at(90, journal.Buy, waits(), nil, refused),
		at(119, journal.Buy, waits(), nil, plan.Plan{New: []plan.Ask{{Shape: "m5.large", Zone: "a", CapacityType: "spot", Pool: pool, Price: 30_000, Pods: []world.Key{key, {Name: "other"}}}}}),
		at(125, journal.Buy, waits(), &claim, plan.Plan{Filled: []plan.Fill{{Claim: "general-x", Pods: []world.Key{key}}}}),
		at(170, journal.Buy, &world.Pod{Node: "n2", Started: 169}, &ready, plan.Plan{}),
		at(300, journal.GiveBack, &world.Pod{Node: "n2", Started: 169}, &ready, plan.Plan{Commands: []plan.Command{{Reason: plan.Underutilized, Verdict: plan.Begin, Back: []plan.Give{{Claim: "general-x", Node: "n2"}}, Moves: []plan.Fill{{Node: "n3", Pods: []world.Key{key}}}}}}),
		at(360, journal.Buy, nil, nil, plan.Plan{}),
	} {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pod's story is told in the order of time, each thing once, whatever reasons are called.
func TestHistory(t *testing.T) {
	path := life(t)
	out, err := asked("pod", "web", "-n", "shop", "--history", "--decisions", path)
	if err != nil {
		t.Fatal(err)
	}
	want := `Pod shop/web
  1970-01-01 00:01:00  pod       it was made (uid u)
  1970-01-01 00:01:01  pod       it waits: kube-scheduler found no place for it
  1970-01-01 00:01:01  decision  it finds no place: n1: taint (gpu` + "\ufffd" + `[2J)
  1970-01-01 00:01:59  decision  a node is bought for it and 1 others: m5.large in a, spot, of pool general, $0.0300/h
  1970-01-01 00:02:00  claim     claim general-x was made in pool general
  1970-01-01 00:02:05  decision  it is to run on the machine of claim general-x
  1970-01-01 00:02:45  claim     claim general-x is initialized
  1970-01-01 00:02:49  pod       it started (u)
  1970-01-01 00:02:50  pod       it is seen on node n2
  1970-01-01 00:05:00  decision  it is to move to n3, since n2 is given back (Underutilized)
  1970-01-01 00:06:00  pod       it is gone
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	out, err = asked("pod", "shop/web", "--history", "--decisions", path, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ History []explain.Moment }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.History) != 11 || got.History[2].Of != "decision" {
		t.Errorf("as JSON it is %s (%v)", out, err)
	}
}

// What cannot be told is said with what to do.
func TestHistoryOfNothing(t *testing.T) {
	path := life(t)
	for want, args := range map[string][]string{
		"nothing is kept of pod default/web: 7 decisions do not know it": {"pod", "web", "--history", "--decisions", path},
		"say --history as well":              {"pod", "web", "--decisions", path},
		"--history is of a pod":              {"node", "n2", "--history"},
		"name their files with --decisions":  {"pod", "web", "--history", "-f", path},
		"read no-such-file":                  {"pod", "web", "--history", "--decisions", "no-such-file"},
		"shop/web is not of the namespace x": {"pod", "shop/web", "-n", "x", "--history", "--decisions", path},
	} {
		if _, err := asked(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: it says %v, want %q (%d)", args, err, want, verb.Status(err))
		}
	}
}
