// Package web shows what Tenon sees and what it decides; it only reads.
//
// The page of the cluster is live where scripts run, by package live and the
// sources in ui/, and a table without them. All else is plain pages, and JSON.
package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// policy has browsers load nothing but what is served here, and run no script that is part of a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// Decisions is what has been decided lately.
type Decisions interface {
	All() []journal.Entry
	Find(digest string) (journal.Entry, bool)
}

// Config is what the pages are made of.
type Config struct {
	Decisions                              // what has been decided lately
	World     func() *world.World          // the latest state of the cluster; nil while there is none
	Deleted   func(claim string) string    // why this controller deleted the claim of that name, and nothing of others; nil if none is known
	Next      func() (journal.Entry, bool) // what would be decided of now, without a plan; false while this process does not decide; nil if it never does
	History   *live.History                // the figures of the last hours; nil: there is no live page, and nothing that it asks for
	Leader    func() string                // the replica that decides, as NAMESPACE/NAME, if it is another one; may be nil
}

// Handler serves the pages.
func Handler(c Config) http.Handler {
	s := site{c}
	mux := http.NewServeMux()
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", s.cluster)
	pages.HandleFunc("GET /decisions/{$}", s.decisions)
	pages.HandleFunc("GET /decisions/{digest}", s.decision)
	mux.Handle("/", Bounded(2*atOnce, pages))
	whole := http.NewServeMux() // what holds whole Worlds
	whole.HandleFunc("GET /decisions/{digest}/world", s.world)
	whole.HandleFunc("GET /journal", s.journal)
	big := Bounded(atOnce, whole)
	mux.Handle("GET /decisions/{digest}/world", big)
	mux.Handle("GET /journal", big)
	whole.HandleFunc("GET /now", s.next)
	mux.Handle("GET /now", big)
	mux.Handle("GET /ui/", serveAssets())
	if c.History != nil {
		s.serveLive(mux)
	}
	return mux
}

// serveLive adds what the live page asks for.
func (s site) serveLive(mux *http.ServeMux) {
	mux.HandleFunc("GET "+live.DescriptionPath, live.ServeDescription)
	mux.Handle("GET /v1/live", s.leading(live.NewFeed(live.Source{World: s.World, Decided: s.All, Deleted: s.Deleted, Leader: s.leader, Panics: s.History.Panics}, clock.Wall)))
	a := live.Answers{World: s.World, Options: s.options, Decided: s.All}
	answers := http.NewServeMux()
	answers.HandleFunc("GET /v1/nodes/{name}", a.Node)
	answers.HandleFunc("GET /v1/pods/{namespace}/{name}", a.Pod)
	answers.HandleFunc("GET /v1/pools/{name}", a.Pool)
	answers.HandleFunc("GET /v1/decisions/{digest}", a.Decision)
	answers.HandleFunc("GET /v1/labels", a.Labels)
	answers.Handle("GET /v1/history", s.History)
	mux.Handle("/v1/", s.leading(Bounded(2*atOnce, answers)))
	decides := http.NewServeMux() // what decides about a whole cluster
	decides.HandleFunc("GET /v1/whatif", a.WhatIf)
	decides.HandleFunc("GET /v1/anew", a.Anew)
	one := s.leading(Bounded(1, decides))
	mux.Handle("GET /v1/whatif", one)
	mux.Handle("GET /v1/anew", one)
}

// leading refuses, with ?from=leader, to answer where another replica decides:
// only that one knows what was decided. Behind a Service any may be asked.
func (s site) leading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("from") == "leader" && s.Next != nil {
			if _, ok := s.Next(); !ok {
				s.elsewhere(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// NotLeading is what a replica says that does not decide, as another one does: leader, as NAMESPACE/NAME, if that is known.
func NotLeading(leader string) string {
	namespace, name, known := strings.Cut(leader, "/")
	if !known {
		return "this replica does not decide: another one leads, or the cluster state is not complete yet"
	}
	return fmt.Sprintf("this replica does not decide, but %s does: kubectl port-forward -n %s pod/%s 8080", name, namespace, name)
}

// leader is the replica that decides, if it is another one and known.
func (s site) leader() string {
	if s.Leader == nil {
		return ""
	}
	return s.Leader()
}

// hint says that another replica decides, if it is known which; empty if none does.
func (s site) hint() string {
	if leader := s.leader(); leader != "" {
		return NotLeading(leader)
	}
	return ""
}

// elsewhere says in an answer that another replica decides, and sends the caller there.
func (s site) elsewhere(w http.ResponseWriter) { Elsewhere(w, s.leader()) }

// Elsewhere says in an answer that another replica decides, and sends the caller there.
func Elsewhere(w http.ResponseWriter, leader string) {
	Leave(w.Header())
	http.Error(w, NotLeading(leader), http.StatusServiceUnavailable)
}

// Leave has the connection end with the answer, by GOAWAY where it is one of HTTP/2: the API server asks all that it
// asks of a Service through one connection, which leads to this replica for as long as it is there.
func Leave(h http.Header) { h.Set("Connection", "close") }

// options are those of the next decision, or the defaults where this process does not decide.
func (s site) options() provision.Options {
	if s.Next == nil {
		return provision.Options{}
	}
	e, _ := s.Next()
	return e.Options.Provision
}

type site struct{ Config }

// show answers with a page.
func show[T any](w http.ResponseWriter, page func(*markup, T), of T) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	var m markup
	page(&m, of)
	_, _ = w.Write(bytes.ToValidUTF8(m.Bytes(), []byte("\ufffd"))) // the client may have gone
}

func (s site) cluster(w http.ResponseWriter, _ *http.Request) {
	state := s.World()
	if state == nil {
		http.Error(w, "the cluster state is not complete yet; try again in a moment", http.StatusServiceUnavailable)
		return
	}
	show(w, (*markup).overview, s.overviewOf(state, s.All()))
}

func (s site) decisions(w http.ResponseWriter, _ *http.Request) {
	var rows []made
	for _, e := range s.All() {
		rows = append(rows, madeOf(e))
	}
	show(w, (*markup).decisions, decisions{rows, s.hint()})
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
		show(w, (*markup).decision, decisionOf(e))
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
			return // the client has gone
		}
	}
	_ = zip.Close()
}

// next gives the World that would be decided about now, and the options, for `tenon plan`.
func (s site) next(w http.ResponseWriter, _ *http.Request) {
	var e journal.Entry
	ok := false
	if s.Next != nil {
		e, ok = s.Next()
	}
	if !ok {
		s.elsewhere(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = e.Write(w) // the client may have gone
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func clockText(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateTime) }

// priced writes a price, with as many digits as the log and the plans have.
func priced(p money.Micro) string {
	if p < money.Hundred {
		return p.Fixed(4)
	}
	return p.Fixed(0)
}

// noun is how so many of something are called.
func noun(n int, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}
