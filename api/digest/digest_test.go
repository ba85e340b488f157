package digest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/api/digest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

type thing struct {
	Name    string
	Flag    *bool
	List    []string
	Map     map[string]string
	Size    *resource.Quantity
	Raw     *runtime.RawExtension
	Ignored string `digest:"-"`
	Inner   inner
}

type inner struct{ A, B string }

func quantity(s string) *resource.Quantity { q := resource.MustParse(s); return &q }

func raw(s string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(s)} }

func TestSameAndDifferent(t *testing.T) {
	tests := map[string]struct {
		why  string
		a, b thing
		same bool
	}{
		"Zero":       {"A field that is not set does not count.", thing{Name: "a"}, thing{Name: "a", List: []string{}, Map: map[string]string{}}, true},
		"Ignored":    {"A field left out of the digest does not show.", thing{Name: "a"}, thing{Name: "a", Ignored: "x"}, true},
		"Set":        {"A list is a set.", thing{List: []string{"a", "b", "a"}}, thing{List: []string{"b", "a"}}, true},
		"Members":    {"Other members, other hash.", thing{List: []string{"a", "b"}}, thing{List: []string{"a", "c"}}, false},
		"Pointer":    {"False written out is not nothing.", thing{}, thing{Flag: new(bool)}, false},
		"Fields":     {"The same value in another field is something else.", thing{Inner: inner{A: "x"}}, thing{Inner: inner{B: "x"}}, false},
		"Swapped":    {"A map's keys and values do not change places.", thing{Map: map[string]string{"a": "b"}}, thing{Map: map[string]string{"b": "a"}}, false},
		"Quantities": {"Equal amounts have one hash, however written.", thing{Size: quantity("1Gi")}, thing{Size: quantity("1073741824")}, true},
		"Amounts":    {"Other amounts have not.", thing{Size: quantity("1Gi")}, thing{Size: quantity("1G")}, false},
		"JSON":       {"The order and spacing of JSON do not show.", thing{Raw: raw(`{"a":1,"b":[2]}`)}, thing{Raw: raw(`{ "b": [2], "a": 1 }`)}, true},
		"OtherJSON":  {"Its values do.", thing{Raw: raw(`{"a":1}`)}, thing{Raw: raw(`{"a":2}`)}, false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if same := digest.Of(c.a) == digest.Of(c.b); same != c.same {
				t.Errorf("same hash: %t, want %t. %s", same, c.same, c.why)
			}
		})
	}
}

// TestStable holds the hash itself: it is kept in annotations, so a change of it replaces every node. If it must change,
// Version changes with it.
func TestStable(t *testing.T) {
	const want = "tenon-v1 15896580018409298805"
	got := digest.Version + " " + digest.Of(thing{Name: "a", List: []string{"x", "y"}, Map: map[string]string{"k": "v"}, Size: quantity("2")})
	if got != want {
		t.Errorf("the hash is %s, was %s", got, want)
	}
}

func TestOrderNeverShows(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.String()).Draw(t, "list")
		other := rapid.Permutation(list).Draw(t, "other")
		if digest.Of(list) != digest.Of(other) {
			t.Fatalf("%q and %q have different hashes", list, other)
		}
	})
}
