// Package top shows a cluster in a terminal: its nodes, the pods that wait, what is decided, and the answers of tenon explain.
//
// A Model receives frames and keys and draws lines; it asks by the HTTP API
// of the live page, whatever answers there.
package top

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/top/feed"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// Config is what is shown.
type Config struct {
	Name     string // where it comes from, for people
	Note     string // what is to be known of it; may be empty
	Get      feed.Get
	Labels   []string        // that nodes are shown with
	Selector labels.Selector // of nodes; nil for all
	Sort     string          // title of the column by which nodes are ordered; empty: by name
	Now      clock.Now
}

// The pages.
const (
	nodesPage = iota
	podsPage
	decisionsPage
	poolsPage
	pageCount
)

// list is a table, whatever its rows are.
type list interface {
	move(by int)
	sort(next int, reverse bool)
	head(width int) string
	lines(width, height int) []string
	count() int
	backwards() bool
}

func (t *table[R]) count() int      { return len(t.rows) }
func (t *table[R]) backwards() bool { return t.reverse }

// Model is what is on the screen.
type Model struct {
	cfg     Config
	ctx     context.Context //nolint:containedctx // questions end with the program
	cluster Cluster
	known   bool                // a first frame came
	lost    error               // why what is shown is old
	since   time.Time           // that it is
	values  map[string][]string // of the labels, by node
	asked   time.Time           // when the labels were

	nodes     table[live.Node]
	pods      table[live.Group]
	decisions table[live.Decision]
	pools     table[live.Pool]
	perPool   map[string]poolSum

	page    int
	filters [pageCount]string
	typing  int    // what is typed goes to: nothing, the filter, or a question
	typed   string // the question so far
	help    bool
	detail  *detail

	width, height int
}

// What is typed goes to.
const (
	toKeys = iota
	toFilter
	toQuestion
)

type poolSum struct {
	nodes int
	price money.Micro
}

// New returns a Model. Questions that it asks end with ctx.
func New(ctx context.Context, cfg Config) (*Model, error) {
	m := &Model{cfg: cfg, ctx: ctx, width: 80, height: 24}
	now := func() int64 { return cfg.Now().Unix() }
	m.nodes = table[live.Node]{screen: true, key: func(n live.Node) string { return n.Name }, columns: nodeColumns(now, cfg.Labels, func(name string) []string { return m.values[name] })}
	m.pods = table[live.Group]{key: func(g live.Group) string { return g.Workload + " " + g.Text }, columns: podColumns(now)}
	m.decisions = table[live.Decision]{key: func(d live.Decision) string { return d.Kind + d.Digest }, columns: decisionColumns(), reverse: true}
	m.pools = table[live.Pool]{key: func(p live.Pool) string { return p.Kind + p.Name }, columns: poolColumns(func(pool string) (int, money.Micro) {
		s := m.perPool[pool]
		return s.nodes, s.price
	})}
	if err := m.order(cfg.Sort); err != nil {
		return nil, err
	}
	m.refresh()
	return m, nil
}

// order orders nodes by a column as the user names it; a figure's largest first.
func (m *Model) order(name string) error {
	if name == "" {
		return nil
	}
	var titles []string
	for i, c := range m.nodes.columns {
		title := strings.ToLower(strings.TrimSuffix(c.title, "/H"))
		if title == strings.ToLower(name) {
			m.nodes.by, m.nodes.reverse = i, c.order != nil
			return nil
		}
		titles = append(titles, title)
	}
	return fmt.Errorf("there is no column %q to order by: there is %s", name, strings.Join(titles, ", "))
}

// newsMsg, labelsMsg and answerMsg are what questions bring.
type (
	newsMsg   feed.News
	labelsMsg struct {
		values map[string][]string
		err    error
	}
	answerMsg struct {
		of   *detail
		text string
		err  error
	}
	tickMsg struct{}
)

// News makes a message of what the feed sends, for Program.Send.
func News(n feed.News) tea.Msg { return newsMsg(n) }

// Init is tea.Model's.
func (m *Model) Init() tea.Cmd { return tick() }

// tick lets ages grow.
func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} }) }

// Update is tea.Model's.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tickMsg:
		m.refresh()
		return m, tea.Batch(tick(), m.askLabels())
	case newsMsg:
		m.hear(feed.News(msg))
		return m, m.askLabels()
	case labelsMsg:
		if msg.err == nil {
			m.values = msg.values
			m.refresh()
		}
	case answerMsg:
		msg.of.answered(msg.text, msg.err)
	}
	return m, nil
}

// hear takes over what the feed sends.
func (m *Model) hear(n feed.News) {
	if n.Lost != nil {
		if m.lost == nil {
			m.since = m.cfg.Now()
		}
		m.lost = n.Lost
		return
	}
	m.lost, m.known = nil, true
	m.cluster.Apply(n.Frame)
	m.refresh()
}

// labelsEvery is how often labels are asked for: new nodes have none before.
const labelsEvery = 3 * time.Second

// askLabels asks for the labels that are shown or selected by, now and then.
func (m *Model) askLabels() tea.Cmd {
	keys := m.keys()
	if len(keys) == 0 || !m.known || m.cfg.Now.Since(m.asked) < labelsEvery {
		return nil
	}
	m.asked = m.cfg.Now()
	return func() tea.Msg {
		values, err := feed.Labels(m.ctx, m.cfg.Get, keys)
		return labelsMsg{values, err}
	}
}

// keys are the labels that are asked for: those to be shown first.
func (m *Model) keys() []string {
	out := slices.Clone(m.cfg.Labels)
	if m.cfg.Selector != nil {
		wants, _ := m.cfg.Selector.Requirements()
		for _, w := range wants {
			out = append(out, w.Key())
		}
	}
	return out
}

// selected reports whether a node is to be shown.
func (m *Model) selected(n live.Node) bool {
	if m.cfg.Selector == nil || m.cfg.Selector.Empty() {
		return true
	}
	values, ok := m.values[n.Name]
	if !ok {
		return false // its labels are not known yet
	}
	has := labels.Set{}
	for i, key := range m.keys() {
		if i < len(values) && values[i] != "" {
			has[key] = values[i]
		}
	}
	return m.cfg.Selector.Matches(has)
}

// refresh fills the tables again.
func (m *Model) refresh() {
	words := [pageCount][]string{}
	for i, f := range m.filters {
		words[i] = strings.Fields(strings.ToLower(f))
	}
	nodes, groups, decisions, pools := []live.Node{}, []live.Group{}, []live.Decision{}, []live.Pool{}
	m.perPool = map[string]poolSum{}
	for _, n := range m.cluster.Nodes {
		s := m.perPool[n.Pool]
		m.perPool[n.Pool] = poolSum{s.nodes + 1, s.price + n.Price}
		if m.selected(n) && matches(words[nodesPage], n.Name, n.Claim, n.Pool, n.Type, n.Zone, n.Capacity, state(n), keptBy(n), strings.Join(m.values[n.Name], " ")) {
			nodes = append(nodes, n)
		}
	}
	for _, g := range m.cluster.Waiting {
		if matches(words[podsPage], g.State, g.Workload, g.Text, g.Hint) {
			groups = append(groups, g)
		}
	}
	for _, d := range m.cluster.Decisions {
		if matches(words[decisionsPage], d.Kind, d.Text, d.Digest) {
			decisions = append(decisions, d)
		}
	}
	for _, p := range m.cluster.Pools {
		if matches(words[poolsPage], p.Kind, p.Name, p.State) {
			pools = append(pools, p)
		}
	}
	m.nodes.set(nodes)
	m.pods.set(groups)
	m.decisions.set(decisions)
	m.pools.set(pools)
}

// list is the table of the page.
func (m *Model) list() list {
	return [pageCount]list{&m.nodes, &m.pods, &m.decisions, &m.pools}[m.page]
}

// question is what opening the row under the cursor asks.
func (m *Model) question() *detail {
	switch m.page {
	case nodesPage:
		if n, ok := m.nodes.chosen(); ok {
			return &detail{title: "node " + n.Name, path: "v1/nodes/" + url.PathEscape(n.Name), node: n.Name}
		}
	case podsPage:
		if g, ok := m.pods.chosen(); ok && len(g.Pods) > 0 {
			return &detail{title: "pod " + g.Pods[0], path: "v1/pods/" + g.Pods[0]}
		}
	case decisionsPage:
		if d, ok := m.decisions.chosen(); ok {
			return &detail{title: "decision " + d.Digest, path: "v1/decisions/" + url.PathEscape(d.Digest)}
		}
	case poolsPage:
		if p, ok := m.pools.chosen(); ok {
			return &detail{title: "pool " + p.Name, path: "v1/pools/" + url.PathEscape(p.Name)}
		}
	}
	return nil
}

// ask opens a detail and asks what it is to say.
func (m *Model) ask(d *detail) tea.Cmd {
	if d == nil {
		return nil
	}
	d.before, m.detail = m.detail, d
	return func() tea.Msg {
		text, err := feed.Ask(m.ctx, m.cfg.Get, d.path, d.query)
		return answerMsg{d, text, err}
	}
}

// without asks what would happen if a node went.
func (m *Model) without() tea.Cmd {
	name := ""
	if n, ok := m.nodes.chosen(); ok && m.page == nodesPage {
		name = n.Name
	}
	if m.detail != nil {
		name = m.detail.node
	}
	if name == "" {
		return nil
	}
	return m.ask(&detail{title: "what if node " + name + " went", path: "v1/whatif", query: url.Values{"without": {"node/" + name}}})
}

// suppose asks what was typed: KEY=VALUE words, as tenon plan has them as flags.
func (m *Model) suppose(typed string) tea.Cmd {
	query := url.Values{}
	for _, word := range strings.Fields(typed) {
		key, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		query.Add(key, value)
	}
	if len(query) == 0 {
		return nil
	}
	return m.ask(&detail{title: "what if " + typed, path: "v1/whatif", query: query})
}
