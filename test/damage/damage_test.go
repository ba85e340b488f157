package damage_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/tenon-sh/tenon/test/damage"
)

var (
	from  = flag.Uint64("from", 1, "the first seed")
	count = flag.Uint64("count", 150, "how many inputs of every format")
	show  = flag.Bool("show", false, "show each input, and what came of it")
)

// A fixed share of what test/damage/job tries.
func TestDamagedInputs(t *testing.T) {
	for _, f := range damage.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			read := uint64(0)
			for seed := *from; seed < *from+*count; seed++ {
				got := f.Try(seed)
				if got.Read {
					read++
				}
				if *show {
					t.Logf("seed %d: %+v\n%s", seed, got, f.Input(seed))
				}
				if got.Fault != "" {
					t.Errorf("seed %d: %s\n%.2000q", seed, got.Fault, f.Input(seed))
				}
			}
			t.Logf("%d inputs, %d of them read", *count, read)
		})
	}
}

// What longer runs have found wrong once.
func TestFound(t *testing.T) {
	for name, seeds := range map[string][]uint64{
		"devices":   {2233, 3643, 37721}, // names that are missing in a ResourceSlice or a pod were said of items of the World
		"recording": {22645, 24392},
		"objects":   {133267}, // an item of a list that is null
		"types":     {136900}, // a name with a control character
	} {
		for _, f := range damage.Formats() {
			for _, seed := range seeds {
				if f.Name != name {
					continue
				}
				if got := f.Try(seed); got.Fault != "" {
					t.Errorf("%s, seed %d: %s\n%.2000q", name, seed, got.Fault, f.Input(seed))
				}
			}
		}
	}
}

// What is not damaged is read.
func TestSamples(t *testing.T) {
	for _, f := range damage.Formats() {
		for i, err := range f.Samples() {
			if err != nil {
				t.Errorf("%s: sample %d is refused: %v", f.Name, i, err)
			}
		}
	}
}

// The input of a seed is the same on every run, and seldom that of another.
func TestInputsDiffer(t *testing.T) {
	for _, f := range damage.Formats() {
		other := map[string]bool{}
		for seed := range uint64(50) {
			if !bytes.Equal(f.Input(seed), f.Input(seed)) {
				t.Fatalf("%s: two inputs of seed %d", f.Name, seed)
			}
			other[string(f.Input(seed))] = true
		}
		if len(other) < 40 {
			t.Errorf("%s: 50 seeds make %d inputs", f.Name, len(other))
		}
	}
}
