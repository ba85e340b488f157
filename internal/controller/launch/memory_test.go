package launch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// remembering is a memory whose clock is moved by hand.
func remembering() (m *memory, pass func(time.Duration)) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	return newMemory(func() time.Time { return now }), func(d time.Duration) { now = now.Add(d) }
}

func claimOf(uid string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid)}}
}

// An order some of whose claims are not in the cache yet is given three seconds from the
// last that came, and as long as it is being written.
func TestOrdersArrive(t *testing.T) {
	m, pass := remembering()
	o := Order{Token: "t", Size: 3, Claims: []*v1.NodeClaim{claimOf("a"), nil, nil}}
	is := func(want bool, why string) {
		t.Helper()
		if m.young(o) != want {
			t.Errorf("claims may still arrive: %t, want %t: %s", !want, want, why)
		}
	}
	is(true, "one has come")
	pass(arrival - 1)
	is(true, "it is not long ago")
	pass(1)
	is(false, "it is three seconds ago")
	o.Claims[1] = claimOf("b")
	is(true, "another has come")
	pass(arrival)
	m.mark([]Order{o}, true)
	is(true, "it is being written")
	m.mark([]Order{o}, false)
	is(true, "it was a moment ago")
	pass(arrival)
	is(false, "that is long ago, too")
}

// Claims are gathered until no more come, and not for longer than a second.
func TestGathering(t *testing.T) {
	m, pass := remembering()
	look := func(n int, more bool, waited time.Duration) {
		t.Helper()
		if gotMore, gotWaited := m.coming(n); gotMore != more || gotWaited != waited {
			t.Errorf("of %d claims: more: %t after %s, want %t after %s", n, gotMore, gotWaited, more, waited)
		}
	}
	look(1, true, 0)
	pass(gather)
	look(2, true, gather)
	pass(gather)
	look(2, false, 2*gather)
	pass(time.Hour)
	look(2, true, 0) // others
	for n := range 19 {
		pass(gather)
		look(n+3, true, time.Duration(n+1)*gather)
	}
	pass(gather)
	look(100, false, longestGather)
}

// What this process wrote counts more than what the cache shows.
func TestWhoseOrderAClaimIs(t *testing.T) {
	m, _ := remembering()
	c, d := claimOf("c"), claimOf("d")
	o := Order{Token: "new", Size: 2, Claims: []*v1.NodeClaim{c, d}}
	if !m.free(c, "") || !m.free(c, "old") || m.own(o) {
		t.Error("nothing was written to it")
	}
	m.put("c", "new")
	if m.free(c, "") || m.free(c, "old") || !m.free(c, "new") {
		t.Error("it was put into a new order, whatever the cache shows")
	}
	if m.own(o) {
		t.Error("another process wrote the order to one of its claims, and may have sent it")
	}
	m.put("d", "new")
	if !m.own(o) {
		t.Error("this process wrote the order and has not sent it")
	}
	if m.own(Order{Token: "new", Size: 3, Claims: []*v1.NodeClaim{c, d, nil}}) {
		t.Error("one of its claims is gone, and may have been another's")
	}
	d.DeletionTimestamp, d.Annotations = &metav1.Time{}, map[string]string{v1.AnnotationOrder: "new"}
	if !m.unsent(o) {
		t.Error("the order of the claim that leaves was written here and not sent")
	}
	m.put("d", "newer")
	if m.unsent(o) {
		t.Error("that claim is in another order")
	}
	m.put("d", "new")
	m.send("new")
	if m.own(o) || m.unsent(o) || !m.isSent("new") || m.isSent("newer") {
		t.Error("it is sent")
	}
}

// When an order was sent is known; of one that is not, it was before this process began to look.
func TestWhenItWasSent(t *testing.T) {
	m, pass := remembering()
	began := m.now()
	if !m.lastSent("theirs").Equal(began) {
		t.Error("it was sent by another process, before this one looked")
	}
	pass(time.Minute)
	m.send("mine")
	if !m.lastSent("mine").Equal(began.Add(time.Minute)) || !m.lastSent("theirs").Equal(began) {
		t.Errorf("mine was sent at %s, theirs at %s", m.lastSent("mine"), m.lastSent("theirs"))
	}
	pass(cloud.Unlisted - time.Minute - 1)
	if !m.fresh() {
		t.Error("this process has only just begun")
	}
	if pass(1); m.fresh() {
		t.Error("all that it has to know could be known by now")
	}
}

// How an order ended says when its claims may be ordered again, and whether it is known what it bought.
func TestHowOrdersEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		cause error
		clear bool
		wait  time.Duration
	}{
		"SoldOut": {cloud.Errorf(cloud.Capacity, "", "none"), true, time.Second}, "NotReady": {cloud.Errorf(cloud.NotReady, "", "no"), true, time.Second},
		"Unclear": {errors.New("no answer"), false, time.Second}, "Invalid": {cloud.Errorf(cloud.Invalid, "", "no"), false, 5 * time.Second},
	} {
		m, pass := remembering()
		if _, spent := m.spent("t-0"); spent || m.isClear("t-0") {
			t.Errorf("%s: it has not ended", name)
		}
		m.close(Order{Token: "t-0"}, tc.cause)
		pass(time.Second / 2)
		if wait, spent := m.spent("t-0"); !spent || wait != tc.wait-time.Second/2 || m.isClear("t-0") != tc.clear {
			t.Errorf("%s: spent: %t, waits %s, clear: %t", name, spent, wait, m.isClear("t-0"))
		}
	}
	m, _ := remembering()
	for _, unclear := range []bool{true, false, true} {
		if m.answered("t", unclear); m.isUnclear("t") != unclear || m.isUnclear("u") {
			t.Errorf("the last answer leaves open what it bought: %t", !unclear)
		}
	}
}

// Of very many orders those are forgotten that were sent long ago, with all that is known
// of them; of those that were sent just now it is known that they were.
func TestOldOrdersAreForgotten(t *testing.T) {
	m, pass := remembering()
	m.send("old")
	m.put("of-old", "old")
	m.answered("old", true)
	m.close(Order{Token: "old"}, errors.New("no answer"))
	pass(2 * forgetAfter)
	m.send("new")
	m.put("of-new", "new")
	m.close(Order{Token: "new"}, errors.New("no answer"))
	if !m.isSent("old") {
		t.Error("few are known, and one is forgotten")
	}
	for i := range remembered {
		m.send(fmt.Sprint("other-", i))
	}
	_, spent := m.spent("old")
	if m.isSent("old") || m.isUnclear("old") || spent || !m.free(claimOf("of-old"), "") {
		t.Error("what is long ago is not forgotten")
	}
	if _, spent = m.spent("new"); !m.isSent("new") || !spent || m.free(claimOf("of-new"), "") {
		t.Error("what was just now is forgotten")
	}
}

// What overlays add to a type is added to its machines, and what they take from memory, such
// as huge pages, is taken from what pods get; what the cloud says as well is not added twice.
func TestOverlaysExtend(t *testing.T) {
	const gi = 1 << 30 * amount.Unit
	said := world.Shape{Name: "m5", Capacity: amount.List{}.With("device", amount.Unit), Overhead: amount.List{}.With(amount.Memory, gi)}
	machine := cloud.Machine{Shape: "m5", Capacity: said.Capacity, Allocatable: said.Capacity.With(amount.Memory, 8*gi)}
	for name, tc := range map[string]struct {
		why    string
		change func(*world.Shape)
		memory int64
		device int64
		extra  int64
	}{
		"Same": {"They say nothing.", func(s *world.Shape) { s.Overlaid = true }, 8, 1, 0},
		"Capacity": {"They add one resource and change another.", func(s *world.Shape) {
			s.Capacity, s.Overlaid = s.Capacity.With("device", 4*amount.Unit).With("extra", 2*amount.Unit), true
		}, 8, 4, 2},
		"Prices":  {"A type that is as it was has what the cloud says.", func(s *world.Shape) { s.Capacity = s.Capacity.With("extra", 2*amount.Unit) }, 8, 1, 0},
		"Pages":   {"Huge pages are cut from memory.", func(s *world.Shape) { s.Overhead = s.Overhead.With(amount.Memory, 3*gi) }, 6, 1, 0},
		"Less":    {"Less overhead than the cloud says gives no more memory than there is.", func(s *world.Shape) { s.Overhead = nil }, 8, 1, 0},
		"All":     {"No more than all of it is cut.", func(s *world.Shape) { s.Overhead = s.Overhead.With(amount.Memory, 100*gi) }, 0, 1, 0},
		"Another": {"What they say is of another type.", func(s *world.Shape) { s.Name, s.Overlaid, s.Capacity = "c5", true, s.Capacity.With("extra", 1) }, 8, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			seen := said
			tc.change(&seen)
			m := overlays{&world.Catalog{Shapes: []world.Shape{said}}, &world.Catalog{Shapes: []world.Shape{seen}}}.extend(machine)
			for _, list := range []amount.List{m.Capacity, m.Allocatable} {
				if d, x := list.Value("device")/amount.Unit, list.Value("extra")/amount.Unit; d != tc.device || x != tc.extra {
					t.Errorf("%d devices and %d of the extra resource, want %d and %d: %s", d, x, tc.device, tc.extra, tc.why)
				}
			}
			if got := m.Allocatable.Value(amount.Memory); got != tc.memory*gi {
				t.Errorf("%d Gi of memory, want %d: %s", got/gi, tc.memory, tc.why)
			}
		})
	}
	for _, v := range []overlays{{}, {said: &world.Catalog{Shapes: []world.Shape{said}}}, {seen: &world.Catalog{Shapes: []world.Shape{said}}}} {
		o := cloud.Order{Requests: machine.Capacity}
		if v.correct(&o); o.Prices != nil || o.Overlaid != nil || len(v.extend(machine).Capacity) != 1 {
			t.Error("where one side is not known, nothing is changed")
		}
	}
}

// An order follows the corrected prices of what is on its menu; an empty menu is all.
func TestOverlaidPrices(t *testing.T) {
	seen := &world.Catalog{Shapes: []world.Shape{
		{Name: "m5", Offers: []world.Offer{{Zone: "a", CapacityType: "spot", Price: 7, Overlaid: true}, {Zone: "b", CapacityType: "spot", Price: 9}}},
		{Name: "c5", Offers: []world.Offer{{Zone: "a", CapacityType: "spot", Price: 5, Overlaid: true}}},
	}}
	m5, c5 := cloud.Offer{Shape: "m5", Zone: "a", CapacityType: "spot"}, cloud.Offer{Shape: "c5", Zone: "a", CapacityType: "spot"}
	for menu, want := range map[string][]cloud.Offer{"m5": {m5}, "": {m5, c5}, "r5": nil} {
		o := cloud.Order{Menu: strings.Fields(menu)}
		overlays{&world.Catalog{}, seen}.correct(&o)
		if len(o.Prices) != len(want) {
			t.Errorf("with menu %q the prices are %v", menu, o.Prices)
		}
		for _, of := range want {
			if o.Prices[of] == 0 {
				t.Errorf("with menu %q there is no price of %v", menu, of)
			}
		}
	}
}

func TestShort(t *testing.T) {
	for text, want := range map[string]string{" a \n": "a", strings.Repeat("x", 300): strings.Repeat("x", 300), strings.Repeat("x", 301): strings.Repeat("x", 300) + "..."} {
		if got := short(text); got != want {
			t.Errorf("cut to %q, want %q", got, want)
		}
	}
	for i := range 4 { // whatever the last character is
		if got := short(strings.Repeat("x", i) + strings.Repeat("…", 200)); !utf8.ValidString(got) || len(got) < 300 || !strings.HasSuffix(got, "…...") {
			t.Errorf("cut to %q", got)
		}
	}
}

func TestNames(t *testing.T) {
	for n, want := range map[int]string{0: "", 5: "0, 1, 2, 3, 4", 6: "0, 1, 2, 3, 4 and 1 others", 9: "0, 1, 2, 3, 4 and 4 others"} {
		var claims []*v1.NodeClaim
		for i := range n {
			claims = append(claims, claimOf(fmt.Sprint(i)))
		}
		if got := names(claims); got != want {
			t.Errorf("%d claims are named %q, want %q", n, got, want)
		}
	}
}
