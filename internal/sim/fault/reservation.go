package fault

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// reservation is a capacity reservation as the control interface shows it.
type reservation struct {
	ID    string            `json:"id"`
	Type  string            `json:"type"`
	Zone  string            `json:"zone"`
	Count int               `json:"count"`
	Left  int               `json:"left"`
	Match string            `json:"match"`
	Kind  string            `json:"kind"`
	State string            `json:"state"`
	End   string            `json:"end,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

func reservationOf(r market.Reservation) reservation {
	out := reservation{ID: r.ID, Type: r.Type, Zone: r.Zone, Count: r.Total, Left: r.Available, Match: r.Match, Kind: r.Kind, State: r.State, Tags: r.Tags}
	if !r.End.IsZero() {
		out.End = r.End.UTC().Format(time.RFC3339)
	}
	return out
}

func reservations(p Panel, _ *http.Request) (any, error) {
	out := []reservation{}
	for _, r := range p.Market.Reservations() {
		out = append(out, reservationOf(r))
	}
	return out, nil
}

func reserve(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Type     string  `json:"type"`
		Zone     string  `json:"zone"`
		Count    int     `json:"count"`
		Tag      string  `json:"tag"`
		Minutes  float64 `json:"minutes"`
		Targeted bool    `json:"targeted"`
		Block    bool    `json:"block"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Type == "" || in.Zone == "" || in.Count < 1 {
		return nil, errors.New("a reservation needs a type, a zone and a count: type=m5.large zone=" + zones(p.Market)[0] + " count=2")
	}
	if err := (pools{Type: in.Type, Zone: in.Zone}).check(p.Market); err != nil {
		return nil, err
	}
	of := market.Reservation{Type: in.Type, Zone: in.Zone, Total: in.Count}
	if in.Targeted {
		of.Match = "targeted"
	}
	if in.Block {
		of.Match, of.Kind = "targeted", "capacity-block"
	}
	if in.Minutes > 0 {
		of.End = p.Market.Now().Add(time.Duration(in.Minutes * float64(time.Minute)))
	}
	if name, value, _ := strings.Cut(in.Tag, "="); name != "" {
		of.Tags = market.Tags{name: value}
	}
	return reservationOf(p.Market.AddReservation(of)), nil
}

func cancelReservation(p Panel, r *http.Request) (any, error) {
	return nil, p.Market.CancelReservation(r.URL.Query().Get("id"))
}
