package world

import (
	"fmt"
	"reflect"
	"testing"
)

// Fields that were added later leave the digest of items without them as it was, and tell items with them apart.
func TestLaterFields(t *testing.T) {
	type before struct {
		Some bool
		Text string
	}
	type after struct {
		Some  bool
		More  bool  `digest:"fold"`
		Until int64 `digest:"fold"`
		Text  string
		Last  string `digest:"later"`
	}
	old, now := newHasher('x', reflect.TypeFor[before]()), newHasher('x', reflect.TypeFor[after]())
	for _, some := range []bool{false, true} {
		if old.sum(&before{some, "a"}) != now.sum(&after{Some: some, Text: "a"}) {
			t.Errorf("an item with %t that has nothing of the new fields has another digest", some)
		}
	}
	seen := map[sum]after{}
	for i := range 16 {
		a := after{Some: i&1 > 0, More: i&2 > 0, Until: int64(i & 4), Text: "a", Last: "b"[:i>>3]}
		if other, twice := seen[now.sum(&a)]; twice {
			t.Errorf("%+v and %+v have one digest", a, other)
		}
		seen[now.sum(&a)] = a
	}
}

// A tag that would have items of different fields write the same bytes is refused, with what to do instead.
func TestTagsOfDigests(t *testing.T) {
	type inner struct {
		Some int `digest:"later"`
	}
	for name, of := range map[string]reflect.Type{
		"a number": reflect.TypeFor[struct {
			A, B int `digest:"fold"`
		}](),
		"a list of its own": reflect.TypeFor[struct {
			A bool
			B []string `digest:"fold"`
			C bool     `digest:"fold"`
		}](), //nolint:govet // tags
		"a struct that is not the last": reflect.TypeFor[struct {
			A inner
			B int
		}](),
	} {
		if fails := func() (why any) {
			defer func() { why = recover() }()
			newHasher('x', of)
			return nil
		}(); fails == nil {
			t.Errorf("what follows %s is taken", fmt.Sprint(name))
		}
	}
}
