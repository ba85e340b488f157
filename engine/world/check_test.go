package world_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// What cannot be is refused whole, with the item and the field that is wrong; what is just within the bounds is taken.
func TestChecks(t *testing.T) {
	var (
		key      = world.Key{Namespace: "d", Name: "x"}
		pool     = world.PoolID{Kind: world.NodePool, Name: "p"}
		negative = amount.List{{Name: "cpu", Value: -1}}
		twice    = amount.List{{Name: "cpu", Value: 1}, {Name: "cpu", Value: 1}}
		nameless = label.Set{{}}
		unsorted = label.Set{label.Is("b", "1"), label.Is("a", "1")}
		device   = world.Device{Driver: "d", Name: "n"}
	)
	pod := func(change func(*world.Pod)) func(*world.Builder) error {
		return func(b *world.Builder) error {
			p := world.Pod{Key: key}
			change(&p)
			return b.SetPod(p)
		}
	}
	asking := func(c world.DeviceClaim) func(*world.Builder) error {
		return pod(func(p *world.Pod) { p.Devices = []world.DeviceClaim{c} })
	}
	node := func(n world.Node) func(*world.Builder) error {
		n.Name = "x"
		return func(b *world.Builder) error { return b.SetNode(n) }
	}
	offer := func(o world.Offer) func(*world.Builder) error {
		return func(b *world.Builder) error {
			return b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "a", Offers: []world.Offer{{}, o}}}})
		}
	}
	shapes := func(all ...world.Shape) func(*world.Builder) error {
		return func(b *world.Builder) error { return b.SetCatalog(world.Catalog{Template: "t", Shapes: all}) }
	}
	buyer := func(change func(*world.Pool)) func(*world.Builder) error {
		return func(b *world.Builder) error {
			p := world.Pool{ID: pool}
			change(&p)
			return b.SetPool(p)
		}
	}
	for name, tc := range map[string]struct {
		set  func(*world.Builder) error
		want string // how the error begins; empty: it is taken
	}{
		"PodUnnamed":          {func(b *world.Builder) error { return b.SetPod(world.Pod{}) }, "pod: name is empty"},
		"PodOfBytes":          {pod(func(p *world.Pod) { p.Name = "\xff" }), `pod "d/\xff": name is not valid UTF-8`},
		"NamespaceOfBytes":    {pod(func(p *world.Pod) { p.Namespace = "\xff" }), `pod "\xff/x": name is not valid UTF-8`},
		"PodNegative":         {pod(func(p *world.Pod) { p.Requests = negative }), "pod d/x: requests.cpu is negative"},
		"PodTwice":            {pod(func(p *world.Pod) { p.Requests = twice }), "pod d/x: requests are not sorted by name"},
		"PodNothing":          {pod(func(p *world.Pod) { p.Requests = amount.List{{Name: "cpu"}} }), ""},
		"SelectorNameless":    {pod(func(p *world.Pod) { p.NodeSelector = nameless }), "pod d/x: nodeSelector have a requirement without a key"},
		"TermUnsorted":        {pod(func(p *world.Pod) { p.NodeTerms = []world.NodeTerm{{}, {Labels: unsorted}} }), `pod d/x: nodeTerms[1].labels are not sorted by key: "a" comes after "b"`},
		"SpreadWithoutKey":    {pod(func(p *world.Pod) { p.Spread = []world.Spread{{MaxSkew: 1}} }), "pod d/x: spread[0] needs a key"},
		"SpreadByNothing":     {pod(func(p *world.Pod) { p.Spread = []world.Spread{{Key: "zone"}} }), "pod d/x: spread[0] needs a key"},
		"SpreadByOne":         {pod(func(p *world.Pod) { p.Spread = []world.Spread{{Key: "zone", MaxSkew: 1}} }), ""},
		"AffinityWithoutKey":  {pod(func(p *world.Pod) { p.PodTerms = []world.PodTerm{{Key: "zone"}, {}} }), "pod d/x: podTerms[1].key is empty"},
		"DevicesUnnamed":      {asking(world.DeviceClaim{}), "pod d/x: devices[0].name is empty"},
		"DevicesForNothing":   {asking(world.DeviceClaim{Key: world.Key{Name: "c"}, Requests: []world.DeviceRequest{{}}}), "pod d/x: devices[0].requests[0] asks for nothing"},
		"DevicesUnselected":   {asking(options(world.DeviceOption{Count: 1})), "pod d/x: devices[0].requests[0] needs a selection"},
		"DevicesNone":         {asking(options(world.DeviceOption{Selection: "s"})), "pod d/x: devices[0].requests[0] needs a selection"},
		"DevicesOne":          {asking(options(world.DeviceOption{Selection: "s", Count: 1})), ""},
		"DevicesAll":          {asking(options(world.DeviceOption{Selection: "s", All: true})), ""},
		"NodeUnnamed":         {func(b *world.Builder) error { return b.SetNode(world.Node{}) }, "node: name is empty"},
		"NodeCapacity":        {node(world.Node{Capacity: negative}), "node x: capacity.cpu is negative"},
		"NodeAllocatable":     {node(world.Node{Allocatable: negative}), "node x: allocatable.cpu is negative"},
		"DeviceWithoutDriver": {node(world.Node{Devices: []world.Device{{Name: "n"}}}), "node x: devices[0] needs a driver and a name"},
		"DeviceWithoutName":   {node(world.Node{Devices: []world.Device{{Driver: "d"}}}), "node x: devices[0] needs a driver and a name"},
		"DeviceTwice":         {node(world.Node{Devices: []world.Device{device, device}}), "node x: devices[1] n of d is there twice"},
		"DeviceUnsorted":      {node(world.Node{Devices: []world.Device{{Driver: "d", Name: "n", Meets: []string{"b", "a"}}}}), "node x: devices[0] has selections that are not sorted"},
		"DeviceWithheld":      {node(world.Node{Devices: []world.Device{{Driver: "d", Name: "n", Withheld: []string{"b", "a"}}}}), "node x: devices[0] has selections that are not sorted"},
		"DeviceSound":         {node(world.Node{Devices: []world.Device{device}}), ""},
		"ClaimUnnamed":        {func(b *world.Builder) error { return b.SetClaim(world.Claim{}) }, "claim: name is empty"},
		"ClaimRequests":       {func(b *world.Builder) error { return b.SetClaim(world.Claim{Name: "x", Requests: negative}) }, "claim x: requests.cpu is negative"},
		"ClaimRequirements":   {func(b *world.Builder) error { return b.SetClaim(world.Claim{Name: "x", Requirements: unsorted}) }, "claim x: requirements are not sorted"},
		"PoolUnnamed":         {buyer(func(p *world.Pool) { p.ID.Name = "" }), "pool: id needs a name and a kind"},
		"PoolOfNoKind":        {buyer(func(p *world.Pool) { p.ID.Kind = "Pool" }), "pool: id needs a name and a kind"},
		"Provisioner":         {buyer(func(p *world.Pool) { p.ID.Kind = world.Provisioner }), ""},
		"PoolLimits":          {buyer(func(p *world.Pool) { p.Limits = negative }), "NodePool p: limits.cpu is negative"},
		"PoolCharge":          {buyer(func(p *world.Pool) { p.Charge = charge(-1) }), "NodePool p: charge is negative"},
		"PoolChargeless":      {buyer(func(p *world.Pool) { p.Charge = charge(0) }), ""},
		"PoolRequirements":    {buyer(func(p *world.Pool) { p.Requirements = unsorted }), "NodePool p: requirements are not sorted"},
		"PoolDevices": {buyer(func(p *world.Pool) {
			p.Devices = []world.DeviceTemplate{{Requirements: unsorted}}
		}), "NodePool p: devices[0].requirements are not sorted"},
		"PoolDeviceUnnamed": {buyer(func(p *world.Pool) {
			p.Devices = []world.DeviceTemplate{{}, {Devices: []world.Device{{}}}}
		}), "NodePool p: devices[1].devices[0] needs a driver and a name"},
		"DaemonSetUnnamed": {func(b *world.Builder) error { return b.SetDaemonSet(world.DaemonSet{}) }, "daemon set: name is empty"},
		"DaemonSetRequests": {func(b *world.Builder) error {
			return b.SetDaemonSet(world.DaemonSet{Key: key, Pod: world.Pod{Requests: negative}})
		}, "pod d/x: requests.cpu is negative"},
		"NamespaceUnnamed": {func(b *world.Builder) error { return b.SetNamespace(world.Namespace{}) }, "namespace: name is empty"},
		"BudgetUnnamed":    {func(b *world.Builder) error { return b.SetGuard(world.Guard{}) }, "guard: name is empty"},
		"ShapeUnnamed":     {shapes(world.Shape{}), "catalogue t: shapes[0].name is empty"},
		"ShapeTwice":       {shapes(world.Shape{Name: "a"}, world.Shape{Name: "a"}), `catalogue t: shapes[1].name "a" is there twice`},
		"ShapeCapacity":    {shapes(world.Shape{Name: "a", Capacity: negative}), "catalogue t: shapes[0].capacity.cpu is negative"},
		"ShapeLabels":      {shapes(world.Shape{Name: "a", Labels: unsorted}), "catalogue t: shapes[0].labels are not sorted"},
		"OfferPaid":        {offer(world.Offer{Price: -1}), "catalogue t: shapes[0].offers[1].price is negative"},
		"OfferFree":        {offer(world.Offer{}), ""},
		"RefusedLess":      {offer(world.Offer{Refused: -1}), "catalogue t: shapes[0].offers[1].refused is -1"},
		"RefusedAlways":    {offer(world.Offer{Refused: 1000}), ""},
		"RefusedMore":      {offer(world.Offer{Refused: 1001}), "catalogue t: shapes[0].offers[1].refused is 1001"},
		"BackoffOfNothing": {func(b *world.Builder) error { return b.SetBackoff(world.Backoff{Times: 1}) }, "back-off: pod and pool are both empty"},
		"BackoffNever": {func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pod: key}})
		}, "back-off: times is 0"},
		"BackoffOfPod": {func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pod: key}, Times: 1})
		}, ""},
		"BackoffOfPool": {func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: pool}, Times: 1})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			empty := b.Snapshot(0).Digest()
			err := tc.set(b)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if taken := b.Snapshot(0).Digest() != empty; taken != (tc.want == "") {
				t.Errorf("taken: %t", taken)
			}
		})
	}
}

func charge(m money.Micro) *money.Micro { return &m }

func options(o world.DeviceOption) world.DeviceClaim {
	return world.DeviceClaim{Key: world.Key{Name: "c"}, Requests: []world.DeviceRequest{{Options: []world.DeviceOption{o}}}}
}

// A purchase that came to nothing holds the next one up for ten seconds, twice as long each time, and half an hour at most. The first of a
// pool holds nothing up.
func TestUntil(t *testing.T) {
	pod, pool := world.BackoffID{Pod: world.Key{Name: "x"}}, world.BackoffID{Pool: world.PoolID{Name: "p"}}
	for _, tc := range []struct {
		id    world.BackoffID
		times int
		wait  int64
	}{{pod, 1, 10}, {pod, 2, 20}, {pod, 8, 1280}, {pod, 9, 1800}, {pod, 1000, 1800}, {pool, 1, 0}, {pool, 2, 10}, {pool, 3, 20}, {pool, 1000, 1800}} {
		b := world.Backoff{BackoffID: tc.id, Times: tc.times, Last: 100}
		if got := b.Until() - b.Last; got != tc.wait {
			t.Errorf("%d times nothing for %v: %d seconds, want %d", tc.times, tc.id, got, tc.wait)
		}
		if at := b.Until(); b.Holds(at) || !b.Holds(at-1) {
			t.Errorf("%d times nothing: held until %t, before %t", tc.times, b.Holds(at), b.Holds(at-1))
		}
	}
}

// What pods are to planning: which wait for a place, which may move, and which may not be disrupted.
func TestPodsMay(t *testing.T) {
	for name, tc := range map[string]struct {
		pod                    world.Pod
		wants, moves, plans    bool
		forbidden, forbiddenAt bool // at 50, at 100
	}{
		"Bound":        {pod: world.Pod{Node: "n", Waiting: true}, moves: true, plans: true},
		"Waiting":      {pod: world.Pod{Waiting: true}, wants: true, moves: true, plans: true},
		"Unseen":       {pod: world.Pod{}, moves: true, plans: true},
		"Done":         {pod: world.Pod{Waiting: true, Done: true}, moves: true, plans: true},
		"Terminating":  {pod: world.Pod{Waiting: true, Terminating: true}, plans: true},
		"Stateful":     {pod: world.Pod{Waiting: true, Terminating: true, StatefulOwner: true}, moves: true, plans: true},
		"Ending":       {pod: world.Pod{Waiting: true, Ending: true}, moves: true, plans: true},
		"DaemonSet":    {pod: world.Pod{Waiting: true, DaemonSet: "d"}, plans: true},
		"Static":       {pod: world.Pod{Waiting: true, Static: true}, plans: true},
		"Claims":       {pod: world.Pod{Claims: true}, moves: true},
		"Problems":     {pod: world.Pod{Problems: []string{"a volume claim is missing"}}, moves: true},
		"Devices":      {pod: world.Pod{Devices: []world.DeviceClaim{{}, {Problem: world.DeviceProblem{Code: "x"}}}}, moves: true},
		"SoundDevices": {pod: world.Pod{Devices: []world.DeviceClaim{{}}}, moves: true, plans: true},
		"Forbidden":    {pod: world.Pod{Disruption: world.PodDisruption{Forbidden: true}}, moves: true, plans: true, forbidden: true, forbiddenAt: true},
		"ForbiddenFor": {pod: world.Pod{Started: 40, Disruption: world.PodDisruption{ForbiddenFor: 60}}, moves: true, plans: true, forbidden: true},
		"NotStarted":   {pod: world.Pod{Disruption: world.PodDisruption{ForbiddenFor: 60}}, moves: true, plans: true, forbidden: true, forbiddenAt: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &tc.pod
			if p.Wants() != tc.wants || p.Moves() != tc.moves || p.Plannable() != tc.plans {
				t.Errorf("wants %t, moves %t, plannable %t; want %t, %t, %t", p.Wants(), p.Moves(), p.Plannable(), tc.wants, tc.moves, tc.plans)
			}
			if p.Forbids(50) != tc.forbidden || p.Forbids(100) != tc.forbiddenAt {
				t.Errorf("forbids at 50 %t, at 100 %t; want %t, %t", p.Forbids(50), p.Forbids(100), tc.forbidden, tc.forbiddenAt)
			}
		})
	}
}

// A machine serves if a pod runs there that is not the node's own, and is reserved while only pods run there that it was bought for.
func TestMachines(t *testing.T) {
	own, other := world.Key{Name: "own"}, world.Key{Name: "other"}
	for name, tc := range map[string]struct {
		place                   world.Place
		serves, reserved, whole bool
		labels                  string
		deleting                bool
	}{
		"Foreign":     {place: world.Place{Node: &world.Node{Labels: map[string]string{"a": "node"}}}, whole: true, labels: "node"},
		"Coming":      {place: world.Place{Claim: &world.Claim{Labels: map[string]string{"a": "claim"}}}, reserved: true, labels: "claim"},
		"Joined":      {place: world.Place{Node: &world.Node{}, Claim: &world.Claim{}}, reserved: true},
		"Initialized": {place: world.Place{Node: &world.Node{}, Claim: &world.Claim{Initialized: true}}, whole: true, reserved: true},
		"Daemons":     {place: world.Place{Claim: &world.Claim{}, Pods: []*world.Pod{{DaemonSet: "d"}, {Static: true}}}, reserved: true},
		"Own":         {place: world.Place{Claim: &world.Claim{Pods: []world.Key{own}}, Pods: []*world.Pod{{Key: own}}}, serves: true, reserved: true},
		"Others":      {place: world.Place{Claim: &world.Claim{Pods: []world.Key{own}}, Pods: []*world.Pod{{Key: own}, {Key: other}}}, serves: true},
		"Deleting":    {place: world.Place{Claim: &world.Claim{Deleting: true}}, reserved: true, deleting: true},
		"NodeGoes":    {place: world.Place{Node: &world.Node{Deleting: true}}, whole: true, deleting: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &tc.place
			if p.Serves() != tc.serves || p.Reserved() != tc.reserved || p.Whole() != tc.whole || p.Labels()["a"] != tc.labels || p.Deleting() != tc.deleting {
				t.Errorf("serves %t, reserved %t, whole %t, labels %v, deleting %t", p.Serves(), p.Reserved(), p.Whole(), p.Labels(), p.Deleting())
			}
		})
	}
}

// Only required anti-affinity keeps pods away; a shape has room for what its overhead leaves, and never less than nothing.
func TestTermsAndRoom(t *testing.T) {
	if !(world.PodTerm{Anti: true}).KeepsAway() {
		t.Error("required anti-affinity does not keep pods away")
	}
	for _, term := range []world.PodTerm{{Anti: true, Weight: 1}, {}, {Weight: 1}} {
		if term.KeepsAway() {
			t.Errorf("%+v keeps pods away", term)
		}
	}
	s := world.Shape{Capacity: amount.Of(amount.Entry{Name: "a", Value: 5}, amount.Entry{Name: "b", Value: 1}), Overhead: amount.Of(amount.Entry{Name: "a", Value: 2}, amount.Entry{Name: "b", Value: 2})}
	if a, b := s.Room("a"), s.Room("b"); a != 3 || b != 0 {
		t.Errorf("room for %d and %d, want 3 and 0", a, b)
	}
}

// A pod ends if it or its namespace does. A budget counts the pods of its own namespace that it selects, and ready ones only where it lets others go.
func TestNamespaces(t *testing.T) {
	b := world.NewBuilder()
	every := world.Selector{Some: true}
	guard := func(namespace, name string, labels world.Selector, lenient bool) world.Guard {
		return world.Guard{Key: world.Key{Namespace: namespace, Name: name}, Selector: labels, UnhealthyLeave: lenient}
	}
	for _, err := range []error{
		b.SetNamespace(world.Namespace{Name: "going", Going: true}), b.SetNamespace(world.Namespace{Name: "here"}),
		b.SetGuard(guard("going", "all", every, false)), b.SetGuard(guard("here", "all", every, false)),
		b.SetGuard(guard("here", "lenient", every, true)), b.SetGuard(guard("there", "all", every, false)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(0)
	for name, tc := range map[string]struct {
		pod    world.Pod
		ends   bool
		guards string
	}{
		"Going":   {world.Pod{Key: world.Key{Namespace: "going"}}, true, "going/all"},
		"Here":    {world.Pod{Key: world.Key{Namespace: "here"}}, false, "here/all"},
		"Ready":   {world.Pod{Key: world.Key{Namespace: "here"}, ReadyToServe: true}, false, "here/all here/lenient"},
		"Ending":  {world.Pod{Key: world.Key{Namespace: "here"}, Ending: true}, true, "here/all"},
		"Unknown": {world.Pod{Key: world.Key{Namespace: "nowhere"}}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, g := range w.GuardsOf(&tc.pod) {
				names = append(names, g.String())
			}
			if got := strings.Join(names, " "); w.Ends(&tc.pod) != tc.ends || got != tc.guards {
				t.Errorf("ends %t, budgets %q; want %t, %q", w.Ends(&tc.pod), got, tc.ends, tc.guards)
			}
		})
	}
}

// A shape or an offer whose price is not known is in no World: it would be taken to cost nothing.
func TestPriced(t *testing.T) {
	some, none := world.Offer{Zone: "a", Price: 1}, world.Offer{Zone: "b", Unpriced: true}
	b := world.NewBuilder()
	c := world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "whole", Offers: []world.Offer{some}}, {Name: "half", Offers: []world.Offer{some, none}}, {Name: "none", Offers: []world.Offer{none}}, {Name: "unsold"}}}
	if err := b.SetCatalog(c); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, s := range b.Snapshot(1).Catalog("t").Shapes {
		got[s.Name] = len(s.Offers)
	}
	if want := map[string]int{"whole": 1, "half": 1, "unsold": 0}; !maps.Equal(got, want) {
		t.Errorf("offers by shape are %v, want %v", got, want)
	}
	if len(c.Shapes[1].Offers) != 2 || !c.Shapes[1].Offers[1].Unpriced {
		t.Error("the catalogue that was given has changed")
	}
}

// What pods share that not all of them can have at once: a volume for one node, one for one pod, and devices, which are of one node.
func TestOneOfAKind(t *testing.T) {
	if (world.Volume{}).Exclusive() || !(world.Volume{OneNode: true}).Exclusive() || !(world.Volume{OnePod: true}).Exclusive() {
		t.Error("volumes for one node and for one pod are exclusive, and no others")
	}
	for _, c := range []world.DeviceClaim{{}, {Node: "n"}, {Allocated: true}, {Allocated: true, Node: "m"}} {
		if c.On("n") {
			t.Errorf("%+v has devices of n", c)
		}
	}
	if !(&world.DeviceClaim{Allocated: true, Node: "n"}).On("n") {
		t.Error("a claim with devices of n has none of it")
	}
}

// What is known of all pods of a machine together: whether one ends, which are of DaemonSets, and which keep others away.
func TestPodsOfAPlace(t *testing.T) {
	away := world.PodTerm{Anti: true, Key: "zone"}
	for name, tc := range map[string]struct {
		pods                []world.Pod
		ending              bool
		daemons, antiaffine int
	}{
		"None":  {nil, false, 0, 0},
		"Plain": {[]world.Pod{{}, {PodTerms: []world.PodTerm{{Key: "zone"}}}}, false, 0, 0},
		"First": {[]world.Pod{{Terminating: true, DaemonSet: "d", PodTerms: []world.PodTerm{away}}, {}}, true, 1, 1},
		"Last":  {[]world.Pod{{}, {Terminating: true}, {DaemonSet: "d", PodTerms: []world.PodTerm{away, away}}}, true, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b, byHand := world.NewBuilder(), &world.Place{}
			if err := b.SetNode(world.Node{Name: "n"}); err != nil {
				t.Fatal(err)
			}
			for i, p := range tc.pods {
				p.Key, p.Node = world.Key{Name: string(rune('a' + i))}, "n"
				if err := b.SetPod(p); err != nil {
					t.Fatal(err)
				}
				byHand.Pods = append(byHand.Pods, &p)
			}
			for _, at := range []*world.Place{b.Snapshot(1).Place("n"), byHand} {
				if at.Ending() != tc.ending || len(at.Daemons()) != tc.daemons || len(at.AntiAffinity()) != tc.antiaffine || len(at.Labelled()) != len(tc.pods) {
					t.Errorf("one ends: %t, of DaemonSets: %d, terms that keep away: %d, labelled: %d", at.Ending(), len(at.Daemons()), len(at.AntiAffinity()), len(at.Labelled()))
				}
			}
		})
	}
}

// Pods that take a port, a volume or devices are those at which rules look that are about these.
func TestHolders(t *testing.T) {
	b := world.NewBuilder()
	if err := b.SetNode(world.Node{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]world.Pod{"plain": {}, "port": {Ports: []world.Port{{Port: 80}}}, "volume": {Volumes: []world.Volume{{ID: "v"}}}, "devices": {Devices: []world.DeviceClaim{{Key: world.Key{Name: "c"}}}}} {
		p.Key, p.Node = world.Key{Name: name}, "n"
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, p := range b.Snapshot(1).Place("n").Holders() {
		got = append(got, p.Name)
	}
	if want := []string{"devices", "port", "volume"}; !slices.Equal(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
}
