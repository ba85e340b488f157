package cloud_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// shop is a driver that sells one shape in two zones, and refuses what it is told to.
type shop struct {
	cloud.Driver

	refuses []cloud.Offer
	gives   []cloud.Machine
}

var spotA = cloud.Offer{Shape: "m5.large", Zone: "a", CapacityType: "spot"}

func (s *shop) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	return world.Catalog{Version: "1", Shapes: []world.Shape{{Name: "m5.large", Offers: []world.Offer{
		{Zone: "a", CapacityType: "spot", Price: 3}, {Zone: "b", CapacityType: "spot", Price: 3}, {Zone: "a", CapacityType: "on-demand", Price: 10},
	}}}}, nil
}

func (s *shop) Launch(context.Context, []cloud.Order) []cloud.Outcome {
	out := cloud.Outcome{Refused: s.refuses, Machines: s.gives}
	if len(out.Machines) == 0 {
		out.Err = cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "sold out")
	}
	return []cloud.Outcome{out}
}

// market is a Cloud over a shop, and what it published last.
type market struct {
	*cloud.Cloud

	shop *shop
	now  time.Time
	last world.Catalog
	news int
}

func newMarket() *market {
	m := &market{shop: &shop{}, now: time.Unix(1_000_000, 0)}
	m.Cloud = cloud.New(cloud.Config{
		Driver: m.shop, Now: func() time.Time { return m.now }, Attempts: 1, Rate: 1e9, Burst: 1 << 20,
		Publish: func(c world.Catalog) { m.last = c; m.news++ },
	})
	m.Want(cloud.Template{ID: "t"})
	m.Refresh(context.Background())
	return m
}

func (m *market) ask(refused bool) {
	m.shop.refuses, m.shop.gives = nil, []cloud.Machine{{ID: "i", Shape: "m5.large", Zone: "a", CapacityType: "spot"}}
	if refused {
		m.shop.refuses, m.shop.gives = []cloud.Offer{spotA}, nil
	}
	m.Launch(context.Background(), []cloud.Order{{Template: cloud.Template{ID: "t"}, Count: 1}})
}

// after lets time pass and returns what is known of the first offer then.
func (m *market) after(d time.Duration) int {
	m.now = m.now.Add(d)
	m.Refresh(context.Background())
	return m.last.Shapes[0].Offers[0].Refused
}

// One refusal is not certainty, several are more than one, machines that come
// make up for them, and all of it is forgotten in time.
func TestRefusalsAreRememberedForAWhile(t *testing.T) {
	m := newMarket()
	var got []int
	for range 3 {
		m.ask(true)
		got = append(got, m.after(0))
	}
	for range 3 {
		m.ask(false)
		got = append(got, m.after(10*time.Minute))
	}
	for range 6 {
		got = append(got, m.after(time.Hour))
	}
	if diff := cmp.Diff([]int{350, 500, 600, 500, 400, 350, 250, 150, 100, 50, 50, 0}, got); diff != "" {
		t.Errorf("in thousandths -want +got\n%s", diff)
	}
	if plain, _ := m.shop.Catalog(t.Context(), cloud.Template{}); m.last.Version != plain.Version {
		t.Errorf("nothing is remembered, and the catalogue is still another: %s", m.last.Version)
	}
	if m.last.Shapes[0].Offers[1].Refused != 0 || m.last.Shapes[0].Offers[2].Refused != 0 {
		t.Error("what was refused in one zone is told of another")
	}
	news := m.news
	m.after(time.Hour)
	if m.news != news {
		t.Error("a catalogue was published in which nothing is new")
	}
}

// Whatever is asked, a share stays one, does not depend on who was asked
// beside, and an offer that was not refused is as the cloud has it.
func TestRefusalsProperty(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		m := newMarket()
		asSold := m.last
		refused := false
		for range rapid.IntRange(0, 20).Draw(t, "asks") {
			no := rapid.Bool().Draw(t, "refused")
			refused = refused || no
			m.ask(no)
			share := m.after(time.Duration(rapid.IntRange(0, 100).Draw(t, "minutes")) * time.Minute)
			if share < 0 || share > 1000 {
				t.Fatalf("%d of a thousand", share)
			}
		}
		m.after(24 * time.Hour)
		if diff := cmp.Diff(asSold.Shapes, m.last.Shapes); diff != "" {
			t.Fatalf("a day later -sold +told\n%s", diff)
		}
		if !refused && m.news > 1 {
			t.Fatalf("nothing was refused, and %d catalogues were published", m.news)
		}
	})
}

// However many offers are refused, only so many are remembered.
func TestRefusalsAreBounded(t *testing.T) {
	m := newMarket()
	for i := range 300 {
		m.shop.refuses, m.shop.gives = nil, nil
		for k := range 50 {
			m.shop.refuses = append(m.shop.refuses, cloud.Offer{Shape: fmt.Sprintf("t%d", i*50+k), Zone: "a", CapacityType: "spot"})
		}
		m.now = m.now.Add(time.Second)
		m.Launch(t.Context(), []cloud.Order{{Template: cloud.Template{ID: "other"}, Count: 1}})
	}
	if n := cloud.Remembered(m.Cloud); n > 10_000 || n < 9_000 {
		t.Errorf("%d of 15,000 offers are remembered", n)
	}
}
