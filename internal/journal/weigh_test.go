package journal_test

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// catalog is a catalogue of a region's size, none of which is shared with another.
func catalog(version int) world.Catalog {
	c := world.Catalog{Template: "t", Version: fmt.Sprint(version)}
	for i := range 800 {
		s := world.Shape{Name: fmt.Sprintf("m%d.large", i)}
		for k := range 40 {
			s.Labels = append(s.Labels, label.Is(fmt.Sprintf("label-%02d", k), fmt.Sprint(i)))
		}
		for z := range 8 {
			s.Offers = append(s.Offers, world.Offer{Zone: fmt.Sprint("zone-", z), CapacityType: "spot", Price: money.Micro(100 + version)})
		}
		c.Shapes = append(c.Shapes, s)
	}
	return c
}

// A journal holds a bounded amount of memory: catalogues that were replaced since
// live on in the Worlds that decisions were made of, with some megabytes each.
func TestWhatEntriesHoldIsBounded(t *testing.T) {
	b, j := world.NewBuilder(), journal.New(64, "v1", nil)
	for at := range 30 {
		if err := b.SetCatalog(catalog(at)); err != nil {
			t.Fatal(err)
		}
		j.Add(journal.Entry{Kind: journal.Buy, World: b.Snapshot(int64(at)), Plan: asks})
	}
	if n := len(j.All()); n < 4 || n > 20 {
		t.Errorf("%d entries are kept that hold a catalogue each, want some of 30", n)
	}
	if last, ok := j.Last(journal.Buy); !ok || last.World.At() != 29 {
		t.Error("the last entry is not the last")
	}
}

// Entries that share what they were made of are cheap, and all of them are kept.
func TestWhatIsSharedCountsOnce(t *testing.T) {
	b, j := world.NewBuilder(), journal.New(64, "v1", nil)
	if err := b.SetCatalog(catalog(0)); err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%04d", i)}, Node: fmt.Sprint("node-", i%50)}); err != nil {
			t.Fatal(err)
		}
	}
	for at := range 64 {
		if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%04d", at*7)}}); err != nil {
			t.Fatal(err)
		}
		j.Add(journal.Entry{Kind: journal.Buy, World: b.Snapshot(int64(at)), Plan: asks})
	}
	if n := len(j.All()); n != 64 {
		t.Errorf("%d of 64 entries are kept", n)
	}
}
