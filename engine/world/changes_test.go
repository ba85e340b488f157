package world_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// catalogs are catalogues of one template that differ in prices, shapes, their order or their labels.
func catalogs() *rapid.Generator[world.Catalog] {
	return rapid.Custom(func(t *rapid.T) world.Catalog {
		c := world.Catalog{Template: "t", Version: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "version"))}
		for i := range rapid.IntRange(1, 3).Draw(t, "shapes") {
			s := world.Shape{Name: fmt.Sprint("s", i), Labels: label.SetOf(label.Is("k", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "label")))}
			for z := range rapid.IntRange(0, 3).Draw(t, "offers") {
				s.Offers = append(s.Offers, world.Offer{Zone: fmt.Sprint(z), CapacityType: "spot", Gone: rapid.Bool().Draw(t, "gone")})
			}
			c.Shapes = append(c.Shapes, s)
		}
		if rapid.Bool().Draw(t, "turned") {
			slices.Reverse(c.Shapes)
		}
		return c
	})
}

// What changed between two Worlds, written, read and applied to the first, gives the second. Neither is changed by it.
func TestChangesLeadFromOneWorldToTheNext(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		live, kept := world.NewBuilder(), world.NewBuilder()
		var last *world.World
		for at := range int64(rapid.IntRange(1, 5).Draw(t, "worlds")) {
			for _, c := range rapid.SliceOfN(changes(), 0, 12).Draw(t, "changes") {
				if err := c.do(live); err != nil {
					t.Fatal(err)
				}
			}
			switch rapid.IntRange(0, 4).Draw(t, "catalogue") {
			case 0:
				live.DeleteCatalog("t")
			case 1, 2:
				if err := live.SetCatalog(catalogs().Draw(t, "catalogue")); err != nil {
					t.Fatal(err)
				}
			}
			w := live.Snapshot(at)
			data, err := json.Marshal(w.Since(last))
			if err != nil {
				t.Fatal(err)
			}
			var read world.Changes
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			before, digest := kept.Snapshot(at-1), ""
			if last != nil {
				digest = before.Digest()
			}
			if err := kept.Apply(read); err != nil {
				t.Fatal(err)
			}
			if got := kept.Snapshot(at); got.Digest() != w.Digest() {
				t.Fatalf("%s give %s, want %s", data, text(t, got), text(t, w))
			}
			if last != nil && (before.Digest() != digest || before.Digest() != last.Digest()) {
				t.Fatal("the World before has changed")
			}
			last = w
		}
	})
}

// Between Worlds that hold the same there is nothing to tell, however they were made; of a catalogue only what is otherwise is.
func TestLittleIsTold(t *testing.T) {
	told := func(a, b world.Catalog) string {
		t.Helper()
		var worlds []*world.World
		for _, c := range []world.Catalog{a, b} {
			x := world.NewBuilder()
			for _, err := range []error{x.SetCatalog(c), x.SetPod(world.Pod{Key: world.Key{Name: "p"}, Labels: map[string]string{"a": "b"}}), x.SetNode(world.Node{Name: "n"})} {
				if err != nil {
					t.Fatal(err)
				}
			}
			worlds = append(worlds, x.Snapshot(5))
		}
		data, err := json.Marshal(worlds[1].Since(worlds[0]))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	sold := func(price int) world.Catalog {
		return world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "s", Labels: label.SetOf(label.Is("k", "v")), Offers: []world.Offer{{Zone: "a"}, {Zone: "b", Refused: price}}}}}
	}
	if got := told(sold(1), sold(1)); got != "{}" {
		t.Errorf("of equal Worlds it tells %s", got)
	}
	if got := told(sold(1), sold(2)); strings.Contains(got, `"k"`) || strings.Contains(got, `"zone":"a"`) || !strings.Contains(got, `"zone":"b"`) {
		t.Errorf("of one offer it tells %s", got)
	}
}

// Changes that cannot be made are refused with the reason.
func TestChangesThatCannotBe(t *testing.T) {
	b := world.NewBuilder()
	for _, c := range []world.Catalog{{Template: "t", Shapes: []world.Shape{{Name: "s"}}}, {Template: "u", Shapes: []world.Shape{{Name: "s", Offers: []world.Offer{{Zone: "a"}}}}}} {
		if err := b.SetCatalog(c); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		`{"resales":[{"template":"x"}]}`:                                                            "there are none yet",
		`{"resales":[{"template":"t","shapes":[{"name":"y"}]}]}`:                                    `no "y"`,
		`{"resales":[{"template":"t","reoffers":[{"shape":1}]}]}`:                                   "shape 1 of 1",
		`{"resales":[{"template":"t","reoffers":[{"shape":-1}]}]}`:                                  "shape -1 of 1",
		`{"resales":[{"template":"t","reoffers":[{"shape":0,"offers":[{"place":0,"zone":"a"}]}]}]}`: "offer 0 of the 0 of s",
		`{"resales":[{"template":"u","reoffers":[{"shape":0,"offers":[{"place":-1}]}]}]}`:           "offer -1 of the 1 of s",
		`{"resales":[{"template":"u","reoffers":[{"shape":0,"offers":[{"place":1}]}]}]}`:            "offer 1 of the 1 of s",
		`{"pods":[null]}`: "item 0 is null",
		`{"pods":[{}]}`:   "name is empty",
	} {
		var c world.Changes
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if err := b.Apply(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: it says %v, want %q", text, err, want)
		}
	}
}
