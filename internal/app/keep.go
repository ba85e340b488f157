package app

import (
	"net/http"

	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/web"
)

// keepJournal returns what decisions are kept in. It passes them on to what else keeps or shows them.
func (p *parts) keepJournal() (*journal.Journal, error) {
	log := p.Log.WithName("journal")
	p.feed = &record.Feed{Now: p.Now}
	also := []func(journal.Entry){p.feed.Add}
	if p.Settings.JournalDir != "" {
		folder, err := journal.NewFolder(p.Settings.JournalDir, p.Settings.JournalLimit, func(err error) { log.Error(err, "keep decisions") })
		if err != nil {
			return nil, err
		}
		if err := p.m.Add(folder); err != nil {
			return nil, err
		}
		also = append(also, folder.Add)
	}
	if p.Settings.RecordFile != "" {
		file, err := record.OpenFile(p.Settings.RecordFile, p.Settings.RecordLimit)
		if err != nil {
			return nil, err
		}
		p.records = record.NewRecorder(file, func(err error) { log.Error(err, "record decisions") })
		if err := p.m.Add(p.records); err != nil {
			return nil, err
		}
		also = append(also, p.records.Add)
	}
	kept := journal.New(maxJournalDecisions, p.Release, func(e journal.Entry) {
		for _, add := range also {
			add(e)
		}
	})
	p.feed.Kept = kept.All
	return kept, nil
}

// serveRecording serves what is recorded, and what is decided to those who record it.
func (p *parts) serveRecording(mux *http.ServeMux) {
	mux.HandleFunc("GET /recording/live", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := p.next(); !ok {
			web.Elsewhere(w, p.leader())
			return
		}
		p.feed.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /recording", func(w http.ResponseWriter, r *http.Request) {
		if p.records == nil {
			http.Error(w, "this controller records nothing: set settings.recordFile of its chart, or --record-file; tenon record without --kept follows it from elsewhere", http.StatusNotFound)
			return
		}
		p.records.ServeHTTP(w, r)
	})
}
