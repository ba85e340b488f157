// Package web shows what Tenon sees and what it decided, in pages that work without scripts; it only reads.
package web

import (
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

//go:embed page.html
var pages string

// Decisions is what has been decided lately.
type Decisions interface {
	All() []journal.Entry
	Find(digest string) (journal.Entry, bool)
}

// Handler serves the pages. now gives the latest picture of the cluster; nil while there is none.
func Handler(d Decisions, now func() *world.World) (http.Handler, error) {
	t, err := template.New("").Parse(pages)
	if err != nil {
		return nil, fmt.Errorf("read pages: %w", err)
	}
	s := site{d, now, t}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.cluster)
	mux.HandleFunc("GET /decisions/{$}", s.decisions)
	mux.HandleFunc("GET /decisions/{digest}", s.decision)
	mux.HandleFunc("GET /decisions/{digest}/world", s.world)
	mux.HandleFunc("GET /journal", s.journal)
	return mux, nil
}

type site struct {
	Decisions
	now   func() *world.World
	pages *template.Template
}

func (s site) show(w http.ResponseWriter, page string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if err := s.pages.ExecuteTemplate(w, page, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// node is a row of the cluster's page.
type node struct {
	Name, Pool, Type, Zone, Capacity, State string
	Pods                                    int
	CPU, Memory                             int // percent asked for
	Price                                   string
}

// waiting is a pod without a place, and the last verdict on it.
type waiting struct{ Pod, Verdict string }

// overview is the cluster's page.
type overview struct {
	Nodes   []node
	Waiting []waiting
	Pools   []pool
	Price   string
	At      string
}

type pool struct{ Kind, Name, State, Limits string }

func (s site) cluster(w http.ResponseWriter, _ *http.Request) {
	picture := s.now()
	if picture == nil {
		http.Error(w, "the first picture of the cluster is not there yet; try again in a moment", http.StatusServiceUnavailable)
		return
	}
	s.show(w, "cluster", overviewOf(picture, s.All()))
}

func overviewOf(w *world.World, decided []journal.Entry) overview {
	o := overview{At: clockText(w.At())}
	var total int64
	for _, p := range w.Places() {
		price := plan.PriceOf(w, p)
		total += price
		o.Nodes = append(o.Nodes, nodeOf(p, price))
	}
	o.Price = dollars(total)
	for _, p := range w.Pools() {
		state := "ready"
		switch {
		case p.Deleting:
			state = "going"
		case p.NotReady != "":
			state = p.NotReady
		}
		o.Pools = append(o.Pools, pool{p.ID.Kind, p.ID.Name, state, p.Limits.String()})
	}
	verdicts := map[world.Key]string{}
	for _, e := range slices.Backward(decided) {
		for _, r := range e.Plan.Refused {
			verdicts[r.Pod] = "refused: " + r.Why.Line()
		}
		for _, a := range e.Plan.New {
			for _, k := range a.Pods {
				verdicts[k] = "a new " + a.Shape + " in " + a.Zone
			}
		}
		for _, f := range e.Plan.Filled {
			for _, k := range f.Pods {
				verdicts[k] = "node " + f.Node + f.Claim
			}
		}
	}
	for _, p := range w.Waiting() {
		v := verdicts[p.Key]
		switch {
		case p.Gated:
			v = "waits for its scheduling gates"
		case v == "":
			v = "no verdict yet"
		}
		o.Waiting = append(o.Waiting, waiting{p.String(), v})
	}
	return o
}

func nodeOf(p *world.Place, price int64) node {
	l := p.Labels()
	n := node{
		Name: p.Name(), Pool: p.Pool().Name, Type: l[label.InstanceType], Zone: l[label.Zone], Capacity: l[label.CapacityType],
		Pods: len(p.Pods), Price: dollars(price), State: "ready",
	}
	var room amount.List
	switch {
	case p.Node == nil:
		n.State, room = "on its way", p.Claim.Allocatable
	case p.Deleting():
		n.State, room = "going", p.Node.Allocatable
	case !p.Node.Ready:
		n.State, room = "not ready", p.Node.Allocatable
	default:
		room = p.Node.Allocatable
	}
	n.CPU, n.Memory = share(p.Used, room, amount.CPU), share(p.Used, room, amount.Memory)
	return n
}

func share(used, room amount.List, name string) int {
	if room.Value(name) <= 0 {
		return 0
	}
	return int(100 * float64(used.Value(name)) / float64(room.Value(name)))
}

// made is a row of the page of decisions.
type made struct {
	Digest, At, Kind            string
	Waiting, New, Refused, Back int
	Cost, Gap, Panic            string
}

func (s site) decisions(w http.ResponseWriter, _ *http.Request) {
	var rows []made
	for _, e := range s.All() {
		m := made{
			Digest: e.World.Digest(), At: clockText(e.World.At()), Kind: e.Kind, Waiting: e.Plan.Waiting, New: len(e.Plan.New),
			Refused: len(e.Plan.Refused), Back: len(e.Plan.Back), Cost: dollars(e.Plan.Cost), Panic: e.Panic,
		}
		if gap, ok := e.Plan.Gap(); ok {
			m.Gap = fmt.Sprintf("%.1f %%", gap*100)
		}
		rows = append(rows, m)
	}
	s.show(w, "decisions", rows)
}

func (s site) find(w http.ResponseWriter, r *http.Request) (journal.Entry, bool) {
	e, ok := s.Find(r.PathValue("digest"))
	if !ok {
		http.Error(w, "no such decision is kept: only the last ones are; /decisions/ lists them", http.StatusNotFound)
	}
	return e, ok
}

// decision shows one: as a page, or as JSON or text with ?o=json or ?o=text.
func (s site) decision(w http.ResponseWriter, r *http.Request) {
	e, ok := s.find(w, r)
	if !ok {
		return
	}
	switch r.URL.Query().Get("o") {
	case "json":
		write(w, e.Plan.Result(e.World))
	case "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(e.Plan.Text(true)))
	default:
		s.show(w, "decision", map[string]string{"Digest": e.World.Digest(), "At": clockText(e.World.At()), "Kind": e.Kind, "Text": e.Plan.Text(true), "Panic": e.Panic})
	}
}

// world gives the World a decision was made of, for `tenon plan -f`.
func (s site) world(w http.ResponseWriter, r *http.Request) {
	if e, ok := s.find(w, r); ok {
		w.Header().Set("Content-Disposition", `attachment; filename="world.json"`)
		write(w, e.World)
	}
}

// journal gives every decision that is kept, the oldest first, a line each, for
// `tenon replay`. It is a compressed file, for each World holds all that is sold.
func (s site) journal(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Disposition", `attachment; filename="journal`+journal.Extension+`"`)
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	for _, e := range slices.Backward(s.All()) {
		if err = cmp.Or(err, e.Write(zip)); err != nil {
			return // who asked has gone
		}
	}
	_ = zip.Close()
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func clockText(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateTime) }

func dollars(micro int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.3f", float64(micro)/1e6), ".000")
}
