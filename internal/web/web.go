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
	"net/http"
	"slices"
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

// Handler serves the pages. now gives the latest state of the cluster; nil while there is none.
// deleted says why this controller deleted the claim of that name, and nothing of others; nil if none is told.
// next is what would be decided of now, without a plan; false while this process does not decide; nil if it never does.
// history has the figures of the last hours; nil: there is no live page, and nothing that it asks for.
func Handler(d Decisions, now func() *world.World, deleted func(claim string) string, next func() (journal.Entry, bool), history *live.History) http.Handler {
	s := site{d, now, deleted, next, history != nil}
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
	if history != nil {
		s.serveLive(mux, history)
	}
	return mux
}

// serveLive adds what the live page asks for.
func (s site) serveLive(mux *http.ServeMux, history *live.History) {
	mux.HandleFunc("GET "+live.DescriptionPath, live.ServeDescription)
	mux.Handle("GET /v1/live", s.leading(live.NewFeed(live.Source{World: s.now, Decided: s.All, Deleted: s.deleted, Panics: history.Panics}, clock.Wall)))
	a := live.Answers{World: s.now, Options: s.options, Decided: s.All}
	answers := http.NewServeMux()
	answers.HandleFunc("GET /v1/nodes/{name}", a.Node)
	answers.HandleFunc("GET /v1/pods/{namespace}/{name}", a.Pod)
	answers.HandleFunc("GET /v1/pools/{name}", a.Pool)
	answers.HandleFunc("GET /v1/decisions/{digest}", a.Decision)
	answers.HandleFunc("GET /v1/labels", a.Labels)
	answers.Handle("GET /v1/history", history)
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
		if r.URL.Query().Get("from") == "leader" && s.decides != nil {
			if _, ok := s.decides(); !ok {
				Elsewhere(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// NotLeading is what a replica says that cannot decide.
const NotLeading = "this replica does not decide: another one leads, or the cluster state is not complete yet"

// Elsewhere says so in an answer, and sends its caller elsewhere.
func Elsewhere(w http.ResponseWriter) {
	Leave(w.Header())
	http.Error(w, NotLeading, http.StatusServiceUnavailable)
}

// Leave has the connection end with the answer, by GOAWAY where it is one of HTTP/2: the API server asks all that it
// asks of a Service through one connection, which leads to this replica for as long as it is there.
func Leave(h http.Header) { h.Set("Connection", "close") }

// options are those of the next decision, or the defaults where this process does not decide.
func (s site) options() provision.Options {
	if s.decides == nil {
		return provision.Options{}
	}
	e, _ := s.decides()
	return e.Options.Provision
}

type site struct {
	Decisions
	now     func() *world.World
	deleted func(claim string) string
	decides func() (journal.Entry, bool)
	live    bool
}

// show answers with a page.
func show[T any](w http.ResponseWriter, page func(*markup, T), of T) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	var m markup
	page(&m, of)
	_, _ = w.Write(bytes.ToValidUTF8(m.Bytes(), []byte("\ufffd"))) // the client may have gone
}

func (s site) cluster(w http.ResponseWriter, _ *http.Request) {
	state := s.now()
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
	show(w, (*markup).decisions, rows)
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
	if s.decides != nil {
		e, ok = s.decides()
	}
	if !ok {
		Elsewhere(w)
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
