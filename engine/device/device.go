// Package device finds, among the devices of one machine, those that resource claims are given.
//
// It takes them in the order in which kube-scheduler does, and as far: the first
// way in which all requests of all claims get what they ask for is the answer. It
// does not know where the devices come from, nor what a selection looks at.
package device

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// mostDevices is how many devices a resource claim can have; the API allows no more.
	mostDevices = 32

	// mostSteps is how many devices are tried for the claims of one pod on one machine.
	mostSteps = 20_000
)

// Allocate returns the positions of the devices that the claims are given, of those that are not in use; nil and
// false if they cannot all have what they ask for. Both lists go by the same positions.
func Allocate(devices []world.Device, inUse []bool, claims []*world.DeviceClaim) (given []int, ok bool) {
	s := newSearch(devices, inUse, claims)
	return s.given, s.request(0, 0)
}

// Could reports whether the claims might be given devices, were all of them free, or only some: what kube-scheduler
// takes for a mistake depends on which are.
func Could(devices []world.Device, claims []*world.DeviceClaim) bool {
	s := newSearch(devices, make([]bool, len(devices)), claims)
	s.lenient = true
	return s.request(0, 0)
}

// exhausted reports whether the search for devices would end for the work that it is.
func exhausted(devices []world.Device, inUse []bool, claims []*world.DeviceClaim) bool {
	s := newSearch(devices, inUse, claims)
	return !s.request(0, 0) && !s.ended && s.steps >= mostSteps
}

// search is a search in which nothing but the devices given so far changes.
type search struct {
	devices []world.Device
	inUse   []bool
	claims  []*world.DeviceClaim
	steps   int
	ended   bool // a constraint keeps a device from a request for all of them, which kube-scheduler takes for a mistake
	lenient bool // it does not end the search
	given   []int
	counts  []int     // devices of each claim
	alike   [][]value // for each claim and constraint what the devices have in common
}

// value is what the devices that a constraint is about have in common.
type value struct {
	text    string
	devices int
}

func newSearch(devices []world.Device, inUse []bool, claims []*world.DeviceClaim) *search {
	s := &search{devices: devices, inUse: slices.Clone(inUse), claims: claims, counts: make([]int, len(claims)), alike: make([][]value, len(claims))}
	for i, c := range claims {
		s.alike[i] = make([]value, len(c.Alike))
	}
	return s
}

// request gives devices to the request and all after it, and reports whether that can be done.
func (s *search) request(claim, request int) bool {
	if claim == len(s.claims) {
		return true
	}
	c := s.claims[claim]
	if request == 0 && s.fewest(c) > mostDevices {
		return false
	}
	if request == len(c.Requests) {
		return s.request(claim+1, 0)
	}
	r := &c.Requests[request]
	for i := range r.Options {
		o := &r.Options[i]
		t := turn{claim: claim, request: request, option: o, left: o.Count}
		if o.All {
			if t.of = s.all(o); len(t.of) == 0 {
				continue
			}
			t.left = len(t.of)
		}
		if s.counts[claim]+t.left <= mostDevices && s.take(t, 0) {
			return true
		}
		if s.over() {
			return false
		}
	}
	return false
}

// fewest is how many devices the claim is given at least.
func (s *search) fewest(c *world.DeviceClaim) int {
	n := 0
	for i := range c.Requests {
		least := mostDevices + 1
		for j := range c.Requests[i].Options {
			o := &c.Requests[i].Options[j]
			count := o.Count
			if o.All {
				count = len(s.all(o))
			}
			least = min(least, count)
		}
		n += least
	}
	return n
}

// turn is one option of a request, and how many devices it is still to be given.
type turn struct {
	claim, request int
	option         *world.DeviceOption
	left           int
	of             []int // the devices that it has to be given; nil: any that are accepted
}

// all are the devices that a request for all of them has to be given.
func (s *search) all(o *world.DeviceOption) []int {
	var of []int
	for i := range s.devices {
		if d := &s.devices[i]; d.Accepted(o.Selection) || d.Barred(o.Selection) {
			of = append(of, i)
		}
	}
	return of
}

// take gives the option the devices that it lacks, from one position on, and then goes on with the next request.
// Of devices that are given to one option the order does not matter, so only one is tried.
func (s *search) take(t turn, from int) bool {
	if t.left == 0 {
		return s.request(t.claim, t.request+1)
	}
	if t.of != nil {
		i := t.of[len(t.of)-t.left]
		return !s.inUse[i] && !s.devices[i].Barred(t.option.Selection) && s.try(t, i)
	}
	for i := from; i < len(s.devices); i++ {
		if !s.inUse[i] && s.devices[i].Accepted(t.option.Selection) && s.try(t, i) {
			return true
		}
		if s.over() {
			return false
		}
	}
	return false
}

// over reports whether nothing more is tried.
func (s *search) over() bool { return s.ended || s.steps >= mostSteps }

// try gives the option one device and goes on; if that leads nowhere all is as it was.
func (s *search) try(t turn, i int) bool {
	s.steps++
	if s.over() {
		return false
	}
	if !s.agree(t, i, +1) {
		s.ended = t.of != nil && !s.lenient
		return false
	}
	s.inUse[i] = true
	s.given = append(s.given, i)
	s.counts[t.claim]++
	next := t
	next.left--
	if s.take(next, i+1) {
		return true
	}
	s.counts[t.claim]--
	s.given = s.given[:len(s.given)-1]
	s.inUse[i] = false
	s.agree(t, i, -1)
	return false
}

// agree counts a device in for the constraints that it concerns, or out, and reports whether all of them hold; else
// none of them has counted it.
func (s *search) agree(t turn, i, by int) bool {
	c := s.claims[t.claim]
	name := c.Requests[t.request].Name
	for n := range c.Alike {
		k, v := &c.Alike[n], &s.alike[t.claim][n]
		if !concerns(k, name, t.option.Name) {
			continue
		}
		text, known := s.devices[i].Attributes[k.Attribute]
		if by > 0 && (!known || v.devices > 0 && v.text != text) {
			s.withdraw(t, n)
			return false
		}
		v.text = text
		v.devices += by
	}
	return true
}

// withdraw takes back that constraints before the last have counted a device.
func (s *search) withdraw(t turn, last int) {
	c := s.claims[t.claim]
	for n := range last {
		if concerns(&c.Alike[n], c.Requests[t.request].Name, t.option.Name) {
			s.alike[t.claim][n].devices--
		}
	}
}

// concerns reports whether the constraint is about devices of the request.
func concerns(k *world.DeviceAlike, request, option string) bool {
	return len(k.Requests) == 0 || slices.Contains(k.Requests, request) || option != "" && slices.Contains(k.Requests, request+"/"+option)
}

// Same reports whether two machines have the same devices, so far as claims can tell them apart.
func Same(a, b []world.Device) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, func(x, y world.Device) bool {
		return x.Driver == y.Driver && x.Pool == y.Pool && x.Name == y.Name && x.Taken == y.Taken &&
			slices.Equal(x.Meets, y.Meets) && slices.Equal(x.Withheld, y.Withheld) && maps.Equal(x.Attributes, y.Attributes)
	}))
}
