// Package supply says what machines of a template can be, where, and for how much.
package supply

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/nodememory"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/aws/shift"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// keepUnaskedFor is how long a catalogue is kept that is not asked for. One that is in
// use is asked for every few minutes.
const keepUnaskedFor = 30 * time.Minute

// Supply makes catalogues. It keeps the last one of each template, and no other. A
// catalogue is large, so templates share all of it that does not differ: where
// their versions are the same, the shapes themselves, and else the parts that are equal.
type Supply struct {
	Inventory *inventory.Inventory
	SoldOut   *soldout.Memory
	Shifts    *shift.Watch
	Memory    *nodememory.Seen
	Lasting   *say.Lasting
	Now       clock.Now
	Region    string

	MemoryOverhead float64 // part of a machine's memory that its nodes lack; 0: types.MemoryOverhead
	ReservedENIs   int

	mu   sync.Mutex
	last map[world.TemplateID]kept
}

// Of returns what machines of a template can be, of which it is known what it
// selects: every type that the class and its images allow, in the zones of its
// subnets, and what is sold out now. A caller that asks while it is made waits: making
// it takes longer than the rest of a launch.
func (s *Supply) Of(ctx context.Context, t cloud.Template, sel selection.Selection) (world.Catalog, error) {
	shelf, err := s.Inventory.Shelf(ctx)
	if err != nil {
		return world.Catalog{}, err
	}
	s.Lasting.Note("instance types", "those that were known last are used", shelf.Untyped)
	s.Lasting.Note("prices", "those that were known last, or are bundled, are used", shelf.Unpriced)
	away := s.Shifts.Known(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.settings(sel)
	version := fmt.Sprintf("%d.%d.%x", shelf.Version, s.SoldOut.Version(), versionOf(sel, settings, away))
	out := world.Catalog{Template: t.ID, Region: s.Region, Version: version}
	if shelf.Currency != "USD" && shelf.Currency != "" {
		out.Currency = shelf.Currency + "/h"
	}
	var made bool
	if out.Shapes, made = s.find(version); !made {
		out.Shapes = s.shapes(shelf, sel, settings, away)
		share(out.Shapes, s.last)
	}
	if len(out.Shapes) == 0 {
		return out, cloud.Errorf(cloud.NotReady, "NoInstanceTypes", "no instance type of %s fits class %s: its images, subnets and settings leave none", s.Region, t.Class.Name)
	}
	s.keep(out)
	return out, nil
}

// find returns the shapes of a version, whichever template they were made for.
// The lock is held.
func (s *Supply) find(version string) ([]world.Shape, bool) {
	for _, k := range s.last {
		if k.value.Version == version {
			return k.value.Shapes, true
		}
	}
	return nil, false
}

// keep notes a template's catalogue. The lock is held.
func (s *Supply) keep(out world.Catalog) {
	if out.Template == "" {
		return // it is no pool's
	}
	if s.last == nil {
		s.last = map[world.TemplateID]kept{}
	}
	s.last[out.Template] = kept{out, s.Now().Add(keepUnaskedFor)}
}

// Drop forgets what was kept for a template that nothing uses any more.
func (s *Supply) Drop(id world.TemplateID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, id)
}

// Sweep forgets what has not been asked for.
func (s *Supply) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.last {
		if !s.Now().Before(k.until) {
			delete(s.last, id)
		}
	}
}

// settings is what decides what a node of the template offers.
func (s *Supply) settings(sel selection.Selection) types.Settings {
	overhead := s.MemoryOverhead
	if overhead == 0 {
		overhead = types.MemoryOverhead
	}
	return types.Deciding(types.Settings{
		Class: sel.Class, Kubelet: sel.Kubelet, Region: s.Region, MemoryOverhead: overhead,
		ReservedENIs: s.ReservedENIs, Seen: s.Memory.Believed(), OldLabels: sel.Class.Legacy,
		Placement: sel.Placement.ID, Strategy: sel.Placement.Strategy, Partitions: sel.Placement.Partitions, Computed: computer(sel),
	})
}

// computer computes what the template's expressions give; nil if it has none.
func computer(sel selection.Selection) types.Computer {
	if sel.Computed == nil {
		return nil // and no interface that holds nothing
	}
	return sel.Computed
}

// Failing are the types that could be had but for an expression of the class that fails for them, each with why, in order of their names; left is how many can.
func (s *Supply) Failing(ctx context.Context, sel selection.Selection) (failing []string, left int, err error) {
	shelf, err := s.Inventory.Shelf(ctx)
	if err != nil {
		return nil, 0, err
	}
	settings := s.settings(sel)
	for i := range shelf.Types {
		typ := &shelf.Types[i]
		if types.Unfit(typ, settings) != "" {
			continue
		}
		if _, err := settings.For(typ); err != nil {
			failing = append(failing, typ.Name+": "+err.Error())
			continue
		}
		left++
	}
	slices.Sort(failing)
	return failing, left, nil
}

// Kubelets returns the kubelet settings of a template for each type by its name. The answer is of the types that are known now.
func (s *Supply) Kubelets(ctx context.Context, sel selection.Selection) (func(shape string) (kubelet.Config, error), error) {
	if !sel.Kubelet.Expressions.Any() {
		return func(string) (kubelet.Config, error) { return sel.Kubelet, nil }, nil
	}
	shelf, err := s.Inventory.Shelf(ctx)
	if err != nil {
		return nil, err
	}
	settings := s.settings(sel)
	settings.Kubelet = sel.Kubelet // with what decides nothing of what nodes offer
	return func(shape string) (kubelet.Config, error) {
		i := slices.IndexFunc(shelf.Types, func(t catalog.Type) bool { return t.Name == shape })
		if i < 0 {
			return kubelet.Config{}, fmt.Errorf("nothing is known of type %s", shape)
		}
		resolved, err := settings.For(&shelf.Types[i])
		return resolved.Kubelet, err
	}, nil
}

// versionOf changes when something does that decides what machines of the template
// can be. What differs between classes and decides nothing of that, such as their
// names, tags or user data, is not in it, so that they share one catalogue.
func versionOf(sel selection.Selection, settings types.Settings, away []string) uint64 {
	h := fnv.New64a()
	boots := make([]label.Set, len(sel.Images))
	for i, image := range sel.Images {
		boots[i] = image.Requirements
	}
	text, err := json.Marshal(struct {
		Settings types.Settings
		Boots    []label.Set
		Any      bool // any type boots: the user's own template names the image
		Zones    map[string]string
		Reserved []reserve.Reservation
		Away     []string
	}{settings, boots, sel.Class.LaunchTemplate != "", sel.ZoneIDs(), sel.Reservations, away})
	if err != nil {
		panic(err) // these are plain values
	}
	_, _ = h.Write(text)
	return h.Sum64()
}

// shapes are the types on the shelf that a template allows, with their offers.
func (s *Supply) shapes(shelf inventory.Shelf, sel selection.Selection, settings types.Settings, away []string) []world.Shape {
	ids := sel.ZoneIDs()
	labels := map[string]map[string]string{} // by zone: every offer there has the same
	for zone, id := range ids {
		if id != "" {
			labels[zone] = map[string]string{awsv1.LabelZoneID: id}
		}
	}
	var out []world.Shape
	for i := range shelf.Types {
		typ := &shelf.Types[i]
		if types.Unfit(typ, settings) != "" {
			continue
		}
		settings, err := settings.For(typ)
		if err != nil {
			continue // a machine that reserves something else than was meant is worse than none; the class' status says it
		}
		var offers []world.Offer
		for _, o := range shelf.Offers(typ, sel.Zones()) {
			o.Labels = labels[o.Zone]
			o.Gone = s.SoldOut.Why(typ.Name, o.Zone, o.CapacityType, sel.Placement.ID) != "" || slices.Contains(away, ids[o.Zone])
			offers = append(offers, o)
		}
		offers = append(offers, reservedOffers(typ.Name, sel.Reservations, ids, away)...)
		if len(offers) == 0 {
			continue
		}
		if shape := types.Shape(typ, settings); sel.Boots(shape.Labels) {
			out = append(out, types.Sell(shape, offers))
		}
	}
	return out
}

// reservedOffers are the offers of reservations for a type in the zones that the
// class has subnets in. They are paid for already, so they cost nothing.
func reservedOffers(typ string, reservations []reserve.Reservation, zones map[string]string, away []string) []world.Offer {
	var out []world.Offer
	for _, r := range reservations {
		id, here := zones[r.Zone]
		if r.Type != typ || !here {
			continue
		}
		labels := map[string]string{
			awsv1.LabelCapacityReservationID: r.ID, awsv1.LabelCapacityReservationType: r.Kind(),
			awsv1.LabelCapacityReservationInterrupts: strconv.FormatBool(r.Interruptible),
		}
		if id != "" {
			labels[awsv1.LabelZoneID] = id
		}
		out = append(out, world.Offer{
			Zone: r.Zone, CapacityType: label.Reserved, Reservation: r.ID, Count: r.Left, Gone: r.Left == 0 || r.Closing || slices.Contains(away, id), Labels: labels,
		})
	}
	return out
}
