package device

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// of makes devices of their names, each with the selections that accept it and, after a bar, attributes: "a:g,h|socket=0".
func of(texts ...string) []world.Device {
	var out []world.Device
	for _, text := range texts {
		text, attributes, _ := strings.Cut(text, "|")
		name, meets, _ := strings.Cut(text, ":")
		d := world.Device{Driver: "gpu", Name: name, Attributes: map[string]string{}}
		if meets != "" {
			d.Meets = strings.Split(meets, ",")
		}
		if k, v, ok := strings.Cut(attributes, "="); ok {
			d.Attributes[k] = v
		}
		out = append(out, d)
	}
	return out
}

func claim(requests ...world.DeviceRequest) *world.DeviceClaim {
	for i := range requests {
		requests[i].Name = fmt.Sprint("r", i)
	}
	return &world.DeviceClaim{Key: world.Key{Namespace: "d", Name: "c"}, Requests: requests}
}

func exactly(selection string, count int) world.DeviceRequest {
	return world.DeviceRequest{Options: []world.DeviceOption{{Selection: selection, Class: selection, Count: count}}}
}

func all(selection string) world.DeviceRequest {
	return world.DeviceRequest{Options: []world.DeviceOption{{Selection: selection, Class: selection, All: true}}}
}

func first(options ...world.DeviceOption) world.DeviceRequest {
	return world.DeviceRequest{Options: options}
}

func alike(c *world.DeviceClaim, attribute string, requests ...string) *world.DeviceClaim {
	c.Alike = append(c.Alike, world.DeviceAlike{Attribute: attribute, Requests: requests})
	return c
}

func TestAllocate(t *testing.T) {
	option := func(name, selection string, count int) world.DeviceOption {
		return world.DeviceOption{Name: name, Selection: selection, Class: selection, Count: count}
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("d%d:g", i)
	}
	for name, c := range map[string]struct {
		why     string
		devices []world.Device
		used    []int
		claims  []*world.DeviceClaim
		want    string // the devices, or what is said
	}{
		"First":       {"The first that are accepted are given.", of("a:h", "b:g", "c:g", "d:g"), nil, []*world.DeviceClaim{claim(exactly("g", 2))}, "b c"},
		"Free":        {"Not those in use.", of("a:g", "b:g"), []int{0}, []*world.DeviceClaim{claim(exactly("g", 1))}, "b"},
		"TooFew":      {"Too few are accepted.", of("a:g", "b:h"), nil, []*world.DeviceClaim{claim(exactly("g", 2))}, "no-device: wants 2 of class g; 1 of 2 devices are accepted"},
		"None":        {"None is.", of("b:h"), nil, []*world.DeviceClaim{claim(exactly("g", 2))}, "no-device: wants 2 of class g; none of 1 devices is accepted"},
		"NoDevices":   {"There is none.", nil, nil, []*world.DeviceClaim{claim(exactly("g", 2))}, "no-device: wants 2 of class g; there is no device"},
		"Taken":       {"Too few are free.", of("a:g", "b:g"), []int{1}, []*world.DeviceClaim{claim(exactly("g", 2))}, "devices-taken: wants 2 of class g; 1 of 2 are free"},
		"Back":        {"The search goes back: the first device is the only one for the second request.", of("a:g,h", "b:g"), nil, []*world.DeviceClaim{claim(exactly("g", 1), exactly("h", 1))}, "b a"},
		"Claims":      {"So it does over claims.", of("a:g,h", "b:g"), nil, []*world.DeviceClaim{claim(exactly("g", 1)), claim(exactly("h", 1))}, "b a"},
		"NotBoth":     {"Each could have it, and not both.", of("a:g,h"), nil, []*world.DeviceClaim{claim(exactly("g", 1)), claim(exactly("h", 1))}, "no-device: each request of its resource claims could be given devices, but not all of them at once, such as those of c"},
		"All":         {"All that are accepted are given.", of("a:g", "b:h", "c:g"), nil, []*world.DeviceClaim{claim(all("g"))}, "a c"},
		"AllTaken":    {"Not if one is in use.", of("a:g", "b:h", "c:g"), []int{2}, []*world.DeviceClaim{claim(all("g"))}, "devices-taken: wants all of class g; 1 of 2 are free"},
		"AllOfNone":   {"All of none is nothing.", of("b:h"), nil, []*world.DeviceClaim{claim(all("g"))}, "no-device: wants all of class g; none of 1 devices is accepted"},
		"AllOfMany":   {"A claim cannot have so many.", of(many...), nil, []*world.DeviceClaim{claim(all("g"))}, "too-many-devices: wants more devices than the 32 that a claim can have"},
		"TooMany":     {"Two requests of one claim neither.", of(many...), nil, []*world.DeviceClaim{claim(exactly("g", 20), exactly("g", 20))}, "too-many-devices: its requests want more devices than the 32 that a claim can have"},
		"Alike":       {"All have the value in common.", of("a:g|s=0", "b:g|s=1", "c:g", "d:g|s=1"), nil, []*world.DeviceClaim{alike(claim(exactly("g", 2)), "s")}, "b d"},
		"AlikeSome":   {"The others need not.", of("a:g|s=0", "b:g|s=1", "c:h|s=1"), nil, []*world.DeviceClaim{alike(claim(exactly("g", 1), exactly("g", 1), exactly("h", 1)), "s", "r0", "r2")}, "b a c"},
		"AlikeNot":    {"Nothing has it in common.", of("a:g|s=0", "b:g|s=1"), nil, []*world.DeviceClaim{alike(claim(exactly("g", 2)), "s")}, "no-device: wants 2 of class g with equal attributes, as its constraints say; 2 are free, and not so many are alike"},
		"AlikeTwice":  {"Two constraints hold at once; the second refuses what the first has counted.", of("a:g|s=0", "b:g|s=1", "c:g|s=1"), nil, []*world.DeviceClaim{alike(alike(claim(exactly("g", 2)), "s"), "s")}, "b c"},
		"Second":      {"The second alternative is taken where the first cannot be had.", of("a:g", "b:g"), nil, []*world.DeviceClaim{claim(first(option("x", "h", 1), option("y", "g", 2)))}, "a b"},
		"NoneOf":      {"Each alternative says why not.", of("a:g"), nil, []*world.DeviceClaim{claim(first(option("x", "h", 1), option("y", "g", 2)))}, "no-device: none of its alternatives can be had"},
		"SecondAlike": {"A constraint may name one of the alternatives.", of("a:g|s=0", "b:g|s=1", "c:h|s=1"), nil, []*world.DeviceClaim{alike(claim(exactly("g", 1), first(option("x", "h", 1))), "s", "r0", "r1/x")}, "b c"},
	} {
		t.Run(name, func(t *testing.T) {
			used := make([]bool, len(c.devices))
			for _, i := range c.used {
				used[i] = true
			}
			before := slices.Clone(used)
			if diff := cmp.Diff(c.want, say(c.devices, used, c.claims)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.why, diff)
			}
			if !slices.Equal(before, used) {
				t.Error("what is in use was changed")
			}
		})
	}
}

// say is the devices that are given, or what is said instead, without what it is said of.
func say(devices []world.Device, used []bool, claims []*world.DeviceClaim) string {
	given, ok := Allocate(devices, used, claims)
	if !ok {
		why := Why(devices, used, nil, claims)
		_, detail, about := strings.Cut(why.Detail, ": ")
		if !about {
			detail = why.Detail
		}
		return string(why.Code) + ": " + detail
	}
	names := make([]string, len(given))
	for i, d := range given {
		names[i] = devices[d].Name
	}
	return strings.Join(names, " ")
}

// A search that cannot succeed, over more ways than can be tried, ends after so many steps and says so.
func TestAllocateEnds(t *testing.T) {
	var texts []string
	for i := range 30 {
		texts = append(texts, fmt.Sprintf("d%d:g|s=%d", i, i/2))
	}
	hopeless := claim(exactly("g", 1), exactly("g", 1), exactly("g", 1), exactly("g", 1), exactly("g", 1), exactly("g", 1), exactly("g", 1), exactly("g", 1))
	alike(hopeless, "s", "r6", "r7")
	hopeless.Requests = append(hopeless.Requests, world.DeviceRequest{Name: "r8", Options: []world.DeviceOption{{Selection: "g", Class: "g", Count: 1}}})
	alike(hopeless, "s", "r0", "r8")
	alike(hopeless, "s", "r1", "r8")
	devices := of(texts...)
	used := make([]bool, len(devices))
	if _, ok := Allocate(devices, used, []*world.DeviceClaim{hopeless}); ok {
		t.Fatal("three of one value were found, and there are two of each")
	}
	if why := Why(devices, used, nil, []*world.DeviceClaim{hopeless}); why.Code != reason.Steps {
		t.Errorf("it says %s", why)
	}
}
