package device_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe/device"
)

// cluster is made-up objects: a node with slices, classes, claims that have devices, and those of a pod that waits.
type cluster struct {
	slices  []*resourcev1.ResourceSlice
	classes map[string]*resourcev1.DeviceClass
	claims  []*resourcev1.ResourceClaim // of the pod
	others  []*resourcev1.ResourceClaim // that have devices
}

// String is what of it is looked at, as JSON.
func (c cluster) String() string {
	var specs []any
	for _, s := range c.slices {
		specs = append(specs, s.Name, s.Spec)
	}
	for _, x := range c.claims {
		specs = append(specs, x.Name, x.Spec)
	}
	for _, x := range c.others {
		specs = append(specs, x.Name, x.Status)
	}
	text, err := json.Marshal(specs)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// List is the lister's of kube-scheduler.
func (c cluster) List() ([]*resourcev1.DeviceClass, error) { return nil, nil }

// Get is the same.
func (c cluster) Get(name string) (*resourcev1.DeviceClass, error) {
	if class := c.classes[name]; class != nil {
		return class, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "deviceclasses"}, name)
}

// judge is what kube-scheduler's allocator gives the pod on the node: the devices, claim by claim; false if it gives none.
func judge(t *rapid.T, c cluster) (devices []string, ok bool) {
	taken := sets.New[structured.DeviceID]()
	for _, o := range c.others {
		for _, r := range o.Status.Allocation.Devices.Results {
			taken.Insert(structured.MakeDeviceID(r.Driver, r.Pool, r.Device))
		}
	}
	features := structured.Features{AdminAccess: true, DeviceTaints: true, PrioritizedList: true, PartitionableDevices: true, ConsumableCapacity: true, DeviceBindingAndStatus: true}
	state := structured.AllocatedState{AllocatedDevices: taken, AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](), AggregatedCapacity: structured.NewConsumedCapacityCollection()}
	a, err := structured.NewAllocator(context.Background(), features, state, c, c.slices, cel.NewCache(100, cel.Features{EnableConsumableCapacity: true}))
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	results, err := a.Allocate(t.Context(), node, c.claims)
	if err != nil || results == nil {
		return nil, false
	}
	for _, r := range results {
		for _, d := range r.Devices.Results {
			devices = append(devices, d.Driver+"/"+d.Pool+"/"+d.Device)
		}
	}
	return devices, true
}

// plan is what this project's own engine gives the pod on the node, and otherwise why nothing.
func plan(t *rapid.T, c cluster) (devices []string, whys []*reason.Why) {
	b := device.NewBook()
	for _, s := range c.slices {
		slice := device.ReadSlice(s)
		b.SetSlice(s.Name, &slice)
	}
	for name, k := range c.classes {
		class := device.ReadClass(k)
		b.SetClass(name, &class)
	}
	pod := world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, Waiting: true, Requests: amount.Of(amount.Entry{Name: amount.Pods, Value: amount.Unit})}
	wishes := device.Wishes{UID: "u"}
	for _, x := range append(slices.Clip(c.claims), c.others...) {
		claim := device.ReadClaim(x)
		b.SetClaim(world.Key{Namespace: "d", Name: x.Name}, &claim)
	}
	for _, x := range c.claims {
		wishes.Claims = append(wishes.Claims, device.Wish{Name: x.Name, Claim: x.Name, Own: true})
	}
	b.SetPod(pod.Key, &wishes)
	j, _ := b.Join()
	pod.Devices = j.Pods[pod.Key]
	for _, x := range pod.Devices {
		if x.Problem.Code != "" {
			return nil, []*reason.Why{{Code: x.Problem.Code, Detail: x.Problem.Detail}}
		}
	}
	room := amount.Of(amount.Entry{Name: amount.Pods, Value: 10 * amount.Unit})
	node := world.Node{Name: "n", Ready: true, Allocatable: room, Devices: j.Nodes["n"].Devices, DevicesLost: j.Nodes["n"].Lost}
	build := world.NewBuilder()
	if err := build.SetNode(node); err != nil {
		t.Fatal(err)
	}
	if err := build.SetPod(pod); err != nil {
		t.Fatal(err)
	}
	w := build.Snapshot(1)
	at := fit.Of(w, w.Place("n"))
	if whys = fit.Objections(&pod, &at); len(whys) > 0 {
		if fit.Fits(&pod, &at) {
			t.Fatalf("it fits, and %s", whys[0])
		}
		return nil, whys
	}
	var claims []*world.DeviceClaim
	for i := range pod.Devices {
		claims = append(claims, &pod.Devices[i])
	}
	for _, i := range fit.Given(&node, claims) {
		d := node.Devices[i]
		devices = append(devices, d.Driver+"/"+d.Pool+"/"+d.Name)
	}
	return devices, nil
}

// What is allocated on a node that is there is what kube-scheduler's own allocator gives, device by device; and where
// it gives nothing, nothing is planned.
func TestAllocatedAsKubeSchedulerDoes(t *testing.T) {
	given, refused := 0, map[reason.Code]int{}
	chance.Check(t, func(t *rapid.T) {
		c := clusters().Draw(t, "cluster")
		want, ok := judge(t, c)
		got, whys := plan(t, c)
		switch {
		case len(whys) == 0 && (!ok || !slices.Equal(want, got)):
			t.Fatalf("kube-scheduler gives %q (%t), planned are %q\n%s", want, ok, got, c)
		case len(whys) > 0 && ok && !careful(whys[0].Code):
			t.Fatalf("kube-scheduler gives %q, and it is refused: %s\n%s", want, whys[0], c)
		case len(whys) > 0:
			refused[whys[0].Code]++
		default:
			given++
		}
	})
	if given == 0 || len(refused) < 6 {
		t.Errorf("%d pods were given devices, and refused for %v: the clusters say too little", given, refused)
	}
	t.Logf("%d given; refused: %v", given, refused)
}

// careful are the reasons for which more is refused than kube-scheduler refuses: what is not planned for, selectors
// that could not be evaluated for a device that it may not come to, and devices that are withheld.
func careful(c reason.Code) bool {
	return c == reason.DeviceRequest || c == reason.DeviceSelector
}

// now reports whether something is so that is so about once in so many times: what rapid draws is small more often than not.
func now(t *rapid.T, what string, times int) bool {
	return rapid.Uint64().Draw(t, what)*0x9e3779b97f4a7c15>>32%uint64(times) == 1
}

// clusters draws small clusters in which claims get what they ask for about as often as not.
func clusters() *rapid.Generator[cluster] {
	return rapid.Custom(func(t *rapid.T) cluster {
		c := cluster{classes: map[string]*resourcev1.DeviceClass{}}
		for _, name := range []string{"gpu", "nic", "any"} {
			class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if name != "any" {
				class.Spec.Selectors = selectors(fmt.Sprintf("device.driver == %q", name+".example.com"))
			}
			c.classes[name] = class
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "pools") {
			c.slices = append(c.slices, pool(t, i)...)
		}
		for i := range rapid.IntRange(1, 2).Draw(t, "claims") {
			c.claims = append(c.claims, request(t, i))
		}
		taken := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "other"}}
		taken.Status.Allocation = &resourcev1.AllocationResult{}
		for _, s := range c.slices {
			for _, d := range s.Spec.Devices {
				if now(t, "taken", 4) {
					taken.Status.Allocation.Devices.Results = append(taken.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: d.Name})
				}
			}
		}
		c.others = append(c.others, taken)
		return c
	})
}

func selectors(expressions ...string) []resourcev1.DeviceSelector {
	var out []resourcev1.DeviceSelector
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

// pool draws the slices of one pool, which is incomplete, out of date in part, or contradicts itself now and then.
func pool(t *rapid.T, n int) []*resourcev1.ResourceSlice {
	driver := rapid.SampledFrom([]string{"gpu", "gpu", "nic"}).Draw(t, "driver") + ".example.com"
	count := rapid.IntRange(1, 2).Draw(t, "slices")
	said := count
	if now(t, "incomplete", 14) {
		said++
	}
	var out []*resourcev1.ResourceSlice
	for i := range count {
		node := "n"
		if now(t, "elsewhere", 18) {
			node = "other"
		}
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s%d-%d", 9-n, i)}, Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: fmt.Sprint("pool-", n), Generation: 1, ResourceSliceCount: int64(said)},
		}}
		if now(t, "old", 18) {
			s.Spec.Pool.Generation = 0
		}
		for j := range rapid.SampledFrom([]int{3, 4, 2, 1, 0, 3}).Draw(t, "devices") {
			s.Spec.Devices = append(s.Spec.Devices, drawDevice(t, i, j))
		}
		out = append(out, s)
	}
	return out
}

func drawDevice(t *rapid.T, i, j int) resourcev1.Device {
	d := resourcev1.Device{Name: fmt.Sprintf("d%d%d", i, j), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}}
	if now(t, "twice", 30) {
		d.Name = "d00"
	}
	if rapid.IntRange(0, 3).Draw(t, "has model") > 0 {
		model := rapid.SampledFrom([]string{"a100", "h100"}).Draw(t, "model")
		d.Attributes["model"] = resourcev1.DeviceAttribute{StringValue: &model}
	}
	if rapid.IntRange(0, 3).Draw(t, "has numa") > 0 {
		numa := int64(rapid.IntRange(0, 1).Draw(t, "numa"))
		name := rapid.SampledFrom([]resourcev1.QualifiedName{"numa", "gpu.example.com/numa", "numa"}).Draw(t, "name")
		d.Attributes[name] = resourcev1.DeviceAttribute{IntValue: &numa}
	}
	d.Capacity["memory"] = resourcev1.DeviceCapacity{Value: resource.MustParse(rapid.SampledFrom([]string{"40Gi", "80Gi"}).Draw(t, "memory"))}
	if now(t, "tainted", 14) {
		d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: rapid.SampledFrom([]resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone}).Draw(t, "effect")}}
	}
	return d
}

// request draws a claim.
func request(t *rapid.T, n int) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "d", Name: fmt.Sprint("c", n),
		OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: types.UID("u"), Controller: new(bool)}},
	}}
	*c.OwnerReferences[0].Controller = true
	for i := range rapid.IntRange(1, 2).Draw(t, "requests") {
		r := resourcev1.DeviceRequest{Name: fmt.Sprint("r", i)}
		if now(t, "alternatives", 4) {
			for j := range rapid.IntRange(1, 2).Draw(t, "of") {
				o := exactly(t)
				r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{
					Name: fmt.Sprint("o", j), DeviceClassName: o.DeviceClassName, Selectors: o.Selectors, AllocationMode: o.AllocationMode, Count: o.Count, Tolerations: o.Tolerations,
				})
			}
		} else {
			o := exactly(t)
			r.Exactly = &o
		}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
	}
	if now(t, "alike", 4) {
		name := resourcev1.FullyQualifiedName("gpu.example.com/numa")
		k := resourcev1.DeviceConstraint{MatchAttribute: &name}
		if rapid.Bool().Draw(t, "one") {
			k.Requests = []string{rapid.SampledFrom([]string{"r0", "r1", "r0/o0"}).Draw(t, "request")}
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, k)
	}
	return c
}

func exactly(t *rapid.T) resourcev1.ExactDeviceRequest {
	o := resourcev1.ExactDeviceRequest{
		DeviceClassName: rapid.SampledFrom([]string{"gpu", "gpu", "gpu", "gpu", "gpu", "any", "nic", "gpu", "gpu", "none", "gpu", "gpu"}).Draw(t, "class"), AllocationMode: resourcev1.DeviceAllocationModeExactCount,
		Count: int64(rapid.SampledFrom([]int{1, 1, 1, 2, 1, 3, 1, 1, 40, 1, 2, 1}).Draw(t, "count")),
	}
	if now(t, "all", 8) {
		o.AllocationMode, o.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	if rapid.Bool().Draw(t, "selects") {
		o.Selectors = selectors(rapid.SampledFrom([]string{
			`device.capacity["gpu.example.com"].memory.compareTo(quantity("60Gi")) > 0`,
			`"model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model == "a100"`,
			`device.attributes["gpu.example.com"].model == "h100"`,
			`device.attributes["gpu.example.com"].numa == 1`,
			`true`,
		}).Draw(t, "selector"))
	}
	if rapid.IntRange(0, 3).Draw(t, "tolerates") == 0 {
		o.Tolerations = []resourcev1.DeviceToleration{{Key: rapid.SampledFrom([]string{"sick", "other", ""}).Draw(t, "key"), Operator: resourcev1.DeviceTolerationOpExists, Effect: rapid.SampledFrom([]resourcev1.DeviceTaintEffect{"", resourcev1.DeviceTaintEffectNoSchedule}).Draw(t, "effect")}}
	}
	return o
}

// What a Book gives does not depend on the order in which objects came to it, nor on what was there and is gone.
func TestOrderDoesNotMatter(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		c := clusters().Draw(t, "cluster")
		var do []func(*device.Book)
		for _, s := range c.slices {
			do = append(do, func(b *device.Book) { slice := device.ReadSlice(s); b.SetSlice(s.Name, &slice) })
		}
		for _, name := range slices.Sorted(maps.Keys(c.classes)) {
			k := c.classes[name]
			do = append(do, func(b *device.Book) { class := device.ReadClass(k); b.SetClass(name, &class) })
		}
		wishes := device.Wishes{UID: "u"}
		for _, x := range append(slices.Clip(c.claims), c.others...) {
			do = append(do, func(b *device.Book) {
				claim := device.ReadClaim(x)
				b.SetClaim(world.Key{Namespace: "d", Name: x.Name}, &claim)
			})
			wishes.Claims = append(wishes.Claims, device.Wish{Name: x.Name, Claim: x.Name, Own: true})
		}
		do = append(do, func(b *device.Book) { b.SetPod(world.Key{Namespace: "d", Name: "p"}, &wishes) })
		text := func(order []func(*device.Book), detour bool) string {
			b := device.NewBook()
			for _, f := range order {
				f(b)
				if detour {
					b.Join()
				}
			}
			j, _ := b.Join()
			return fmt.Sprintf("%+v", j)
		}
		if a, b := text(do, false), text(rapid.Permutation(do).Draw(t, "order"), true); a != b {
			t.Fatalf("in one order\n%s\nin another\n%s", a, b)
		}
	})
}
