package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tenon-sh/tenon/internal/top/feed"
	"github.com/tenon-sh/tenon/internal/web/live"
)

var at = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

func now() time.Time { return at }

// answering answers every question with its own path, and labels with a table.
func answering(_ context.Context, path string, query url.Values) (io.ReadCloser, error) {
	switch {
	case path == "v1/labels":
		return io.NopCloser(strings.NewReader(`{"nodes": {"ip-1.ec2.internal": ["red", "spot"], "ip-2.ec2.internal": ["blue", "on-demand"]}}`)), nil
	case strings.Contains(path, "nosuch"):
		return nil, errors.New("there is no such node")
	}
	query.Del("from")
	return io.NopCloser(strings.NewReader(fmt.Sprintf(`{"text": "asked %s %s\nsecond\tline"}`, path, query.Encode()))), nil
}

func frame() live.Frame {
	return live.Frame{
		Whole: true, At: at.Unix(), Currency: "USD", Totals: live.Totals{Price: 300_000, OnDemand: 400_000, Ready: 1, Coming: 1, Running: 2, Waiting: 3, Longest: 75, CPU: 50, Memory: 25},
		Nodes: []live.Node{
			{Name: "ip-1.ec2.internal", Pool: "general", Type: "m5.large", Zone: "us-east-1a", Capacity: "spot", State: live.Ready, Created: at.Unix() - 3700, Price: 100_000, OnDemand: 200_000, CPU: 2000, UsedCPU: 1800, Memory: 8192, UsedMemory: 1024, Pods: []int64{900, 512, 0, 900, 512, 1}, Keeps: []string{"do-not-disrupt"}},
			{Name: "ip-2.ec2.internal", Pool: "general", Type: "c6i.xlarge", Zone: "us-east-1b", Capacity: "on-demand", State: live.OnItsWay, Created: at.Unix() - 9, Price: 200_000, OnDemand: 200_000, CPU: 4000, Memory: 8192},
		},
		Pools:     &[]live.Pool{{Kind: "NodePool", Name: "general", State: live.Ready, Limits: "cpu 100", Used: "cpu 6"}},
		Waiting:   &[]live.Group{{State: live.Refused, Workload: "shop/web", Text: "no place", Hint: "raise the limit", Count: 3, Pods: []string{"shop/web-1"}, Since: at.Unix() - 75}},
		Decisions: &[]live.Decision{{Digest: "abc", At: at.Unix(), Kind: "provisioner", Text: "buys 1 c6i.xlarge for 4 pods", New: 1, Cost: 200_000, Proven: "98 %"}},
	}
}

func model(t *testing.T, cfg Config) *Model {
	t.Helper()
	cfg.Name, cfg.Get, cfg.Now = "demo", answering, now
	m, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wide is space between columns; how much of it there is is not what is tested.
var wide = regexp.MustCompile(`  +`)

func shows(m *Model, width, height int) string {
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	var b strings.Builder
	for _, l := range m.screen() {
		b.WriteString(wide.ReplaceAllString(strings.TrimRight(ansi.Strip(l), " "), "  ") + "\n")
	}
	return b.String()
}

// press presses keys, and does at once what they ask for.
func press(m *Model, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k, Code: []rune(k)[0]}
		switch k {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		}
		if _, cmd := m.Update(msg); cmd != nil {
			m.Update(cmd())
		}
	}
}

func TestPages(t *testing.T) {
	m := model(t, Config{})
	if got := shows(m, 80, 10); !strings.Contains(got, "asking the cluster") {
		t.Errorf("before anything is known:\n%s", got)
	}
	m.Update(News(feed.News{Frame: frame()}))
	for _, tc := range []struct {
		keys []string
		want []string
	}{
		{nil, []string{
			"tenon top  demo", "10:00:00", "0.300 USD/h (0.400 on demand, 25% less) · 2 nodes, 1 coming · 2 pods, 3 waiting (longest 1m15s)", "cpu █████░░░░░  50%",
			"NODE↑", "ip-1  ready  general  m5.large  us-east-1a  spot  2  █████████░  90%  █░░░░░░░░░  12%  0.100  1h01m  do-not-disrupt", "ip-2  on its way",
		}},
		{[]string{"2"}, []string{"refused  3  shop/web  1m15s  no place  raise the limit"}},
		{[]string{"3"}, []string{"provisioner  buys 1 c6i.xlarge for 4 pods  0.200  98 %"}},
		{[]string{"4"}, []string{"general  NodePool  ready  2  0.300  cpu 100  cpu 6"}},
		{[]string{"1", "down", "enter"}, []string{"node ip-2.ec2.internal\nasked v1/nodes/ip-2.ec2.internal\nsecond  line"}},
		{[]string{"w"}, []string{"what if node ip-2.ec2.internal went\nasked v1/whatif without=node%2Fip-2.ec2.internal"}},
		{[]string{"esc", "esc", ":", "p", "r", "i", "c", "e", "=", "a", "=", "1", "enter"}, []string{"asked v1/whatif price=a%3D1"}},
		{[]string{"esc", "2", "enter"}, []string{"pod shop/web-1\nasked v1/pods/shop/web-1"}},
		{[]string{"esc", "3", "enter"}, []string{"asked v1/decisions/abc"}},
		{[]string{"esc", "4", "enter"}, []string{"asked v1/pools/general"}},
		{[]string{"esc", "1", "/", "S", "P", "O", "T", "enter"}, []string{"1 Nodes 1", "filter: SPOT"}},
		{[]string{"/", "x"}, []string{"Nothing matches the filter"}},
		{[]string{"esc", "?"}, []string{"Nothing can be changed here."}},
	} {
		press(m, tc.keys...)
		got := shows(m, 180, 24)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("after %v there is no %q in\n%s", tc.keys, want, got)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	m := model(t, Config{Sort: "price"})
	m.Update(News(feed.News{Frame: frame()}))
	first := func() string { return m.nodes.rows[0].Name }
	if first() != "ip-2.ec2.internal" {
		t.Errorf("the dearest is not first: %s", first())
	}
	press(m, "r")
	if first() != "ip-1.ec2.internal" {
		t.Errorf("the cheapest is not first: %s", first())
	}
	press(m, ">", "r") // by age, oldest last
	if !strings.Contains(shows(m, 180, 24), "AGE↓") || first() != "ip-1.ec2.internal" {
		t.Errorf("by age: %s first in\n%s", first(), shows(m, 180, 24))
	}
	if _, err := New(t.Context(), Config{Sort: "colour", Now: now}); err == nil || !strings.Contains(err.Error(), `there is no column "colour" to order by: there is node, state`) {
		t.Errorf("a column that is not there: %v", err)
	}
}

func TestLabels(t *testing.T) {
	selector, err := labels.Parse("karpenter.sh/capacity-type=spot")
	if err != nil {
		t.Fatal(err)
	}
	m := model(t, Config{Labels: []string{"example.com/team"}, Selector: selector})
	_, ask := m.Update(News(feed.News{Frame: frame()}))
	if len(m.nodes.rows) != 0 {
		t.Errorf("nodes are shown whose labels are not known: %v", m.nodes.rows)
	}
	m.Update(ask())
	if got := shows(m, 200, 24); !strings.Contains(got, "TEAM") || !strings.Contains(got, "red") || strings.Contains(got, "ip-2") || !strings.Contains(got, "0.100 USD/h (0.200 on demand, 50% less) · 1 node · 2 pods") {
		t.Errorf("only spot nodes, with their team:\n%s", got)
	}
	if _, again := m.Update(News(feed.News{Frame: frame()})); again != nil {
		t.Error("labels are asked for again at once")
	}
}

func TestLost(t *testing.T) {
	m := model(t, Config{})
	m.Update(News(feed.News{Frame: frame()}))
	m.Update(News(feed.News{Lost: errors.New("connection refused")}))
	if got := shows(m, 120, 24); !strings.Contains(got, "connection refused") || !strings.Contains(got, "NOT LIVE for 0s") || !strings.Contains(got, "ip-1") {
		t.Errorf("what is old is shown as live, or not at all:\n%s", got)
	}
	m.Update(News(feed.News{Frame: live.Frame{At: at.Unix(), Currency: "USD", Gone: []string{"ip-1.ec2.internal"}, Nodes: []live.Node{{Name: "ip-2.ec2.internal", State: live.Ready}}}}))
	if got := shows(m, 120, 24); strings.Contains(got, "NOT LIVE") || strings.Contains(got, "ip-1") || !strings.Contains(got, "ip-2  ready") {
		t.Errorf("after a change:\n%s", got)
	}
}

// The name of a node or the text of a reason must not control the terminal.
func TestHostileTexts(t *testing.T) {
	evil := "\x1b[2J\x1b]0;owned\x07\u202e\r\n\x9bevil\u200b"
	f := frame()
	f.Currency = evil
	f.Nodes[0].Name, f.Nodes[0].Pool, f.Nodes[0].Type, f.Nodes[0].Zone, f.Nodes[0].Capacity, f.Nodes[0].Keeps = evil, evil, evil, evil, evil, []string{evil}
	f.Waiting = &[]live.Group{{State: evil, Workload: evil, Text: evil, Hint: evil, Count: 1, Pods: []string{evil}}}
	f.Pools = &[]live.Pool{{Name: evil, Kind: evil, State: evil, Limits: evil, Used: evil}}
	f.Decisions = &[]live.Decision{{Kind: evil, Text: evil, Digest: evil, Proven: evil}}
	m := model(t, Config{Labels: []string{evil}})
	m.values = map[string][]string{evil: {evil}}
	m.cfg.Note = evil
	m.cfg.Get = func(context.Context, string, url.Values) (io.ReadCloser, error) { return nil, errors.New(evil) }
	m.Update(News(feed.News{Frame: f}))
	for _, keys := range [][]string{nil, {"2"}, {"3"}, {"4"}, {"1", "enter"}, {"esc", "2", "enter"}} {
		press(m, keys...)
		m.lost = map[bool]error{true: errors.New(evil)}[len(keys) == 1]
		for _, width := range []int{20, 80, 300} {
			m.Update(tea.WindowSizeMsg{Width: width, Height: 30})
			for _, line := range m.screen() {
				if w := ansi.StringWidth(line); w > width {
					t.Errorf("a line of %d on a screen of %d: %q", w, width, line)
				}
				for line != "" { // only colours are left
					seq, w, n, _ := ansi.DecodeSequence(line, ansi.NormalState, nil)
					if w == 0 && !(strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m")) || strings.ContainsFunc(seq, func(r rune) bool { return r != '\x1b' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }) {
						t.Fatalf("after %v the terminal gets %q", keys, seq)
					}
					line = line[n:]
				}
			}
		}
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil || strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), unicode.IsControl) {
		t.Errorf("written once: %v, %q", err, b.String())
	}
}

// Every size of a terminal can be drawn on.
func TestSizes(t *testing.T) {
	m := model(t, Config{})
	m.Update(News(feed.News{Frame: frame()}))
	for width := 1; width < 220; width += 3 {
		for _, height := range []int{1, 2, 7, 50} {
			m.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := m.screen()
			if len(lines) > height {
				t.Fatalf("%d lines at %dx%d", len(lines), width, height)
			}
			for _, l := range lines {
				if w := ansi.StringWidth(l); w > width {
					t.Fatalf("a line of %d at %dx%d: %q", w, width, height, l)
				}
			}
		}
	}
}

// The program as it runs: it draws what it is told, and ends by a key.
func TestProgram(t *testing.T) {
	in, keys := io.Pipe()
	var out bytes.Buffer
	p := tea.NewProgram(model(t, Config{}), tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(&out), tea.WithWindowSize(100, 12), tea.WithoutSignalHandler(), tea.WithEnvironment([]string{"TERM=xterm"}))
	go func() {
		p.Send(News(feed.News{Frame: frame()}))
		_, _ = keys.Write([]byte("q")) // the program reads until it ends
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	_ = keys.Close() // of a pipe that is not read any more
	if got := ansi.Strip(out.String()); !strings.Contains(got, "tenon top") {
		t.Errorf("it drew\n%q", got)
	}
}

func BenchmarkScreen(b *testing.B) {
	f := frame()
	for i := range 5000 {
		n := f.Nodes[0]
		n.Name = fmt.Sprintf("ip-%d.ec2.internal", i)
		f.Nodes = append(f.Nodes, n)
	}
	m, err := New(b.Context(), Config{Now: now})
	if err != nil {
		b.Fatal(err)
	}
	m.Update(News(feed.News{Frame: f}))
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	b.Run("Draw", func(b *testing.B) {
		for b.Loop() {
			m.View()
		}
	})
	b.Run("Change", func(b *testing.B) {
		for b.Loop() {
			m.Update(News(feed.News{Frame: live.Frame{Nodes: f.Nodes[:10]}}))
		}
	})
}

// What consolidation could save is seen at a glance, and told in full where it is written once. Names are shown as they can be.
func TestSavings(t *testing.T) {
	m := model(t, Config{})
	f := frame()
	f.Savings = &live.Savings{
		Price: 300_000, Bound: 150_000, Now: 20_000, Held: 70_000,
		Best: []live.Saving{
			{Nodes: []string{"ip-1.ec2.internal"}, Reason: "Underutilized", Saves: 70_000, Pods: 2, Buys: 1, HeldUp: "NodePool general\x1b[2J: 0 nodes may go now"},
			{Nodes: []string{"ip-2.ec2.internal", "ip-3.ec2.internal"}, Reason: "Underutilized", Saves: 20_000, Pods: 1},
		},
		Stay: []live.Stay{{Code: "do-not-disrupt", Nodes: 3, Price: 210_000, Such: "ip-4: shop/web forbids it"}},
	}
	m.Update(News(feed.News{Frame: f}))
	if got, want := shows(m, 200, 24), "consolidation saves 0.020 now, 0.070 held up, most by ip-1.ec2.internal (bound 0.150)"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	var out strings.Builder
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Consolidation saves 0.020 USD/h now, and 0.070 that something holds up; the nodes of pools cost 0.300, and new nodes for what can move would cost 0.150 at least",
		"0.070  ip-1.ec2.internal: Underutilized, moves 2 pods, buys 1 node; held up: NodePool general", "0.020  ip-2.ec2.internal and 1 more: Underutilized, moves 1 pod",
		"stay: 3 nodes of 0.210/h: do-not-disrupt, such as ip-4: shop/web forbids it",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a control sequence is written")
	}
	f.Savings = nil
	m.Update(News(feed.News{Frame: f}))
	if got := shows(m, 200, 24); strings.Contains(got, "consolidation") {
		t.Error("what is not known any more is still shown")
	}
}
