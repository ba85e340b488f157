package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGates(t *testing.T) {
	for text, c := range map[string]struct {
		want    Gates
		unknown []string
		refuse  bool
		why     string
	}{
		"":                                  {want: Gates{ReservedCapacity: true}, why: "nothing said, nothing changed"},
		"NodeRepair=true,Whatever=true":     {want: Gates{ReservedCapacity: true, NodeRepair: true}, unknown: []string{"Whatever"}, why: "gates of other releases are passed over, and named"},
		"ReservedCapacity=false, ":          {why: "what is on can be switched off"},
		"NodeOverlay=true,CapacityBuffer=1": {want: Gates{ReservedCapacity: true, NodeOverlay: true, CapacityBuffer: true}, why: "several can be opened at once, in each form of a bool"},
		"NodeRepair":                        {refuse: true, why: "on or off is not said"},
		"NodeRepair=maybe":                  {refuse: true, why: "it is one or the other"},
	} {
		t.Run(text, func(t *testing.T) {
			got, unknown, err := ParseGates(Defaults().Gates, text)
			if (err != nil) != c.refuse {
				t.Fatalf("%v: %s", err, c.why)
			}
			if c.refuse {
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.why, diff)
			}
			if diff := cmp.Diff(c.unknown, unknown); diff != "" {
				t.Errorf("%s: %s", c.why, diff)
			}
		})
	}
}

func TestParseAWSGates(t *testing.T) {
	got, unknown, err := ParseAWSGates("NodeClassCEL=true,Later=true")
	if err != nil || !got.NodeClassCEL || !cmp.Equal(unknown, []string{"Later"}) {
		t.Errorf("%+v, unknown %q, %v; want NodeClassCEL switched on and Later named", got, unknown, err)
	}
	if _, _, err := ParseAWSGates("NodeClassCEL=perhaps"); err == nil {
		t.Error("perhaps is neither on nor off")
	}
}
