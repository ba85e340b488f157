package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/report"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
)

// hostile is a pool's name that tries to be markup.
const hostile = "=cmd|'/c calc'!A1<script>alert(1)</script>\x1b[2J"

// story is two hours before midnight and two after it: a machine of 1.0 an hour that is given back for one of 0.5, one that vanishes, pods that wait.
func story(t *testing.T, why string, shadow bool) string {
	t.Helper()
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Unix()
	hour := int64(3600)
	offer := func(kind string, price int64) world.Offer {
		o := world.Offer{Zone: "a", CapacityType: kind}
		o.Price += 1
		o.Price = o.Price.Times(int(price))
		return o
	}
	at := func(second int64, kind string, claims []string, pods []world.Pod, p plan.Plan) journal.Entry {
		b := world.NewBuilder()
		id := world.PoolID{Kind: world.NodePool, Name: hostile}
		room := amount.List{{Name: amount.CPU, Value: 4000}}
		errs := []error{
			b.SetPool(world.Pool{ID: id, Template: "t"}),
			b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{
				{Name: "big", Capacity: room, Offers: []world.Offer{offer("spot", 1_000_000), offer("on-demand", 2_000_000)}},
				{Name: "small", Capacity: room, Offers: []world.Offer{offer("spot", 500_000), offer("on-demand", 1_000_000)}},
			}}),
		}
		for _, c := range claims {
			shape, _, _ := strings.Cut(c, "-")
			labels := map[string]string{label.InstanceType: shape, label.Zone: "a", label.CapacityType: "spot"}
			errs = append(errs, b.SetClaim(world.Claim{Name: c, Pool: id, Template: "t", Launched: true, Labels: labels, Node: "n-" + c, ProviderID: c}),
				b.SetNode(world.Node{Name: "n-" + c, ProviderID: c, Pool: id, Claim: c, Ready: true, Labels: labels}))
		}
		for _, p := range pods {
			errs = append(errs, b.SetPod(p))
		}
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		return journal.Entry{Kind: kind, World: b.Snapshot(midnight + second), Plan: p}
	}
	pod := func(name string, created, started int64, node string) world.Pod {
		p := world.Pod{Key: world.Key{Namespace: "d", Name: name}, UID: name, Created: midnight + created, Node: node}
		if started != 0 {
			p.Started = midnight + started
		}
		return p
	}
	pool := world.PoolID{Kind: world.NodePool, Name: hostile}
	move := plan.Command{Reason: plan.Underutilized, Verdict: plan.Begin, Pods: 3, Saving: 1, Back: []plan.Give{{Claim: "big-1", Node: "n-big-1", Pool: pool, Reason: plan.Underutilized, Price: 1_000_000}}}
	entries := []journal.Entry{
		at(-2*hour, journal.Buy, []string{"big-1"}, []world.Pod{pod("a", -2*hour-10, 0, ""), pod("b", -2*hour-5, 0, "")}, plan.Plan{}),
		at(-hour, journal.GiveBack, []string{"big-1", "small-1"}, []world.Pod{pod("a", -2*hour-10, -2*hour+20, "n-big-1"), pod("b", -2*hour-5, -2*hour+55, "n-big-1")}, plan.Plan{Price: 1, Least: move.Saving.Times(400_000), Commands: []plan.Command{move}}),
		at(-hour+1, journal.GiveBack, []string{"big-1", "small-1"}, nil, plan.Plan{Price: 1, Commands: []plan.Command{move}}), // it could not begin at once
		at(hour, journal.Buy, []string{"small-1", "small-2"}, []world.Pod{pod("c", hour-7, 0, "")}, plan.Plan{}),
		at(2*hour, journal.Buy, []string{"small-1"}, []world.Pod{pod("c", hour-7, 0, "")}, plan.Plan{}),
	}
	entries[3].Deleted = map[string]string{"small-2": why}
	for i := range entries {
		entries[i].Shadow = shadow
	}
	if shadow {
		entries[0].Plan.New = []plan.Ask{{Price: 200_000, Pods: []world.Key{{Namespace: "d", Name: "a"}, {Namespace: "d", Name: "b"}}}}
	}
	folder := t.TempDir()
	for i, e := range entries {
		var b bytes.Buffer
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, string(rune('a'+i))+".json"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func says(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := report.Command("v9")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// What a journal covers is added up by the hour, over midnight, and by why machines went.
func TestPeriod(t *testing.T) {
	folder := story(t, "spot_interrupted", false)
	text, err := says(t, folder, "-o", "json")
	if err != nil {
		t.Fatal(err, text)
	}
	var got report.Period
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Curve); n != 5 || got.Curve[1].Price != 1.5 || got.Curve[1].OnDemand != 3 || got.Curve[1].Bound != 0.4 || got.Curve[4].Price != 0.5 || got.Curve[4].Waiting != 1 {
		t.Errorf("the curve is %+v", got.Curve)
	}
	want := report.Period{
		Format: "tenon-report/v1", From: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC).Unix(), Until: time.Date(2026, 3, 2, 2, 0, 0, 0, time.UTC).Unix(),
		Decisions: 5, Currency: "USD", Cost: 5, OnDemand: 10, Bought: 2, Ended: map[string]int{plan.Underutilized: 1, "spot_interrupted": 1}, Interrupted: 1, Moved: 3,
		Waits: report.Waits{Pods: 2, Median: 30, Most95: 60, Longest: 60, Waiting: 1},
		Rows: []report.Row{
			{Day: "2026-03-01", Pool: hostile, Cost: 2.5, OnDemand: 5, Bought: 1, Moved: 3},
			{Day: "2026-03-02", Pool: hostile, Cost: 2.5, OnDemand: 5, Bought: 1, Ended: map[string]int{plan.Underutilized: 1, "spot_interrupted": 1}, Interrupted: 1},
		},
	}
	got.Curve = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What a shadow decided was not done: it is told what it would have saved, and moves and reasons are not its own.
func TestPeriodOfAShadow(t *testing.T) {
	folder := story(t, "", true)
	page := filepath.Join(t.TempDir(), "page.html")
	text, err := says(t, folder, "--html", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 machines came, 2 went (2 otherwise).", "With them the same nodes would have cost about 3.00 USD, 2.00 less (40.0 %)",
		"It would have bought 1 machine for 0.2000 an hour, where 0 machines for 0.0000 came for the same pods; given back 1 machine, and moved 3 pods for that.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "with the shadow&#39;s decisions") || !strings.Contains(string(html), "What the shadow would have saved, by day") {
		t.Errorf("the page is %s (%v)", html, err)
	}
	text, err = says(t, folder, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got report.Period
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Shadow; s == nil || len(s.Days) != 2 || s.GivenBack != 1 || got.Moved != 0 || got.Curve[2].Would != 0.5 {
		t.Errorf("it says %s", text)
	}
}

// Beside an autoscaler without claims all nodes count, and machines that came for the same pods are those of new nodes.
func TestPeriodBesideAnother(t *testing.T) {
	folder := t.TempDir()
	for i := range int64(3) {
		b := world.NewBuilder()
		node := world.Node{Name: "n", Created: 5, Ready: true, Labels: map[string]string{label.InstanceType: "one", label.Zone: "a", label.CapacityType: "spot"}}
		newer := node
		newer.Name, newer.Created = "newer", 3605
		pod := world.Pod{Key: world.Key{Name: "p"}, UID: "p", Waiting: true}
		e := journal.Entry{Kind: journal.Buy, Shadow: true}
		errs := []error{b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "one", Offers: []world.Offer{{Zone: "a", CapacityType: "spot", Price: 1_000_000}}}}}), b.SetNode(node)}
		if i > 0 {
			pod.Node = "newer"
			errs = append(errs, b.SetNode(newer))
		} else {
			e.Plan.New = []plan.Ask{{Price: 400_000, Pods: []world.Key{pod.Key}}}
		}
		if err := errors.Join(append(errs, b.SetPod(pod))...); err != nil {
			t.Fatal(err)
		}
		e.World = b.Snapshot(3600 * (i + 1))
		var text bytes.Buffer
		if err := e.Write(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".json")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := says(t, folder)
	if err != nil || !strings.Contains(text, "The nodes of pools cost 3.00 USD") || !strings.Contains(text, "would have cost about 2.40 USD, 0.60 less (20.0 %)") ||
		!strings.Contains(text, "It would have bought 1 machine for 0.4000 an hour, where 1 machine for 1.0000 came for the same pods") {
		t.Errorf("it says %s (%v)", text, err)
	}
}

// However a pool is called, it is no formula, no markup and no control sequence.
func TestPeriodIsWrittenSafely(t *testing.T) {
	folder := story(t, "spot_interrupted", false)
	page := filepath.Join(t.TempDir(), "page.html")
	text, err := says(t, folder, "--html", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cost 5.00 USD, 50 % below on demand", "2 machines came, 2 went (1 Underutilized, 1 spot interrupted), 1 of them because the cloud took or ended them; 3 pods moved", "2 pods waited for a node: half of them 30s at most, 95 % 1m0s, the longest 1m0s", "1 pod waited at the end"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	html := string(data)
	for _, want := range []string{"<polyline class=\"price\"", "&lt;script&gt;", "below on demand", "default-src 'none'"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, not := range []string{"<script", "http://", "https://", "src=", "NaN", "\x1b"} {
		if strings.Contains(html, not) {
			t.Errorf("the page has %q", not)
		}
	}
	table, err := says(t, folder, "-o", "csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) != 3 || !strings.HasPrefix(rows[1][1], "'=cmd") || rows[1][2] != "2.500000" {
		t.Errorf("the table is %q (%v)", rows, err)
	}
	if strings.Contains(text+table, "\x1b") {
		t.Error("a control sequence is written")
	}
	if _, err := says(t, folder, "--html", page); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a page that is there is written over: %v", err)
	}
}

// What cannot be read is refused with what is wanted; journals in the wrong order are told.
func TestPeriodOfNothing(t *testing.T) {
	if _, err := says(t, t.TempDir()); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), "holds no decision") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := says(t, filepath.Join(t.TempDir(), "none")); verb.Status(err) != verb.Unusable {
		t.Errorf("no file: %v", err)
	}
	folder := story(t, "spot_interrupted", false)
	if text, err := says(t, folder, folder); err != nil || !strings.Contains(text, "4 decisions were passed over") {
		t.Errorf("the same twice: %v %s", err, text)
	}
	config := cluster(t, nil, map[string]int{"services": 404})
	if _, err := says(t, "--kubeconfig", config); err == nil || !strings.Contains(err.Error(), "give a file or folder of decisions") {
		t.Errorf("no controller: %v", err)
	}
	if _, err := says(t, "--kubeconfig", cluster(t, nil, nil)); err == nil || !strings.Contains(err.Error(), "has kept no decision yet") {
		t.Errorf("no journal: %v", err)
	}
	if text, err := says(t, "--kubeconfig", cluster(t, decided(t, 2), nil)); err != nil || !strings.Contains(text, "by 3 decisions") {
		t.Errorf("a controller: %v %s", err, text)
	}
}
