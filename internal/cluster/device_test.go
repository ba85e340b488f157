package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// follower is a cluster state in which devices are planned for.
func follower() *cluster.Cluster {
	c := cluster.New(clock.At(time.Unix(1_000_000, 0)))
	c.FollowDevices()
	return c
}

func deviceClass() *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
	}}
}

func resourceClaim(name, owner string) *resourcev1.ResourceClaim {
	controls := true
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: types.UID(owner), Controller: &controls}}},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
		}}}},
	}
}

func resourceSlice(node string) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s-" + node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "a"}},
	}}
}

func claimant(made bool) *corev1.Pod {
	template := "gpu"
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "p", UID: "u"}, Spec: corev1.PodSpec{ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}}}
	if made {
		name := "p-gpu"
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: &name}}
	}
	return p
}

func gpuPool(text string) *v1.NodePool {
	return &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "gpus", Annotations: map[string]string{v1.AnnotationDevices: text}}}
}

const stated = `[{driver: gpu.example.com, requirements: [{key: family, operator: In, values: [g5]}], devices: [{name: a}]}]`

// What a pod asks for says why nothing can be planned, as long as that is so.
func TestDevicesOfPods(t *testing.T) {
	c := follower()
	problem := func() reason.Code {
		p := c.World().Pod(world.Key{Namespace: "d", Name: "p"})
		if p.Claims {
			t.Fatal("devices are not planned for")
		}
		return p.Devices[0].Problem.Code
	}
	for _, step := range []struct {
		why  string
		do   func()
		want reason.Code
	}{
		{"Its template has not been followed.", func() { c.SetPod(claimant(false)) }, reason.Claims},
		{"The claim is not seen yet.", func() { c.SetPod(claimant(true)) }, reason.Claims},
		{"There is no class.", func() { c.SetResourceClaim(resourceClaim("p-gpu", "u")) }, reason.DeviceClass},
		{"It can be planned for.", func() { c.SetDeviceClass(deviceClass()) }, ""},
		{"The class has gone again.", func() { c.DeleteDeviceClass("gpu") }, reason.DeviceClass},
		{"Another has taken its name.", func() { c.SetDeviceClass(deviceClass()); c.SetResourceClaim(resourceClaim("p-gpu", "another")) }, reason.Claims},
		{"The claim has gone.", func() { c.DeleteResourceClaim(world.Key{Namespace: "d", Name: "p-gpu"}) }, reason.Claims},
	} {
		step.do()
		if got := problem(); got != step.want {
			t.Errorf("%s It is said %q, want %q", step.why, got, step.want)
		}
	}
}

// Without the setting nothing is read of devices, and a pod with claims is marked as such.
func TestDevicesAreNotFollowed(t *testing.T) {
	c := cluster.New(clock.At(time.Unix(1_000_000, 0)))
	c.SetPod(claimant(true))
	c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	c.SetResourceSlice(resourceSlice("n"))
	c.SetNodePool(gpuPool(stated))
	w := c.World()
	if p := w.Pod(world.Key{Namespace: "d", Name: "p"}); !p.Claims || p.Devices != nil {
		t.Errorf("the pod is %+v", p)
	}
	if w.Place("n").Node.Devices != nil || w.Pools()[0].Devices != nil {
		t.Error("there are devices")
	}
}

// In whatever order objects come, the World is the same; and a device is taken as long as a claim has it.
func TestDevicesInAnyOrder(t *testing.T) {
	allocated := resourceClaim("q-gpu", "other")
	allocated.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "gpu.example.com", Pool: "n", Device: "a"}}}}
	do := []func(*cluster.Cluster){
		func(c *cluster.Cluster) { c.SetPod(claimant(true)) },
		func(c *cluster.Cluster) { c.SetResourceClaim(resourceClaim("p-gpu", "u")) },
		func(c *cluster.Cluster) { c.SetResourceClaim(allocated) },
		func(c *cluster.Cluster) { c.SetDeviceClass(deviceClass()) },
		func(c *cluster.Cluster) { c.SetResourceSlice(resourceSlice("n")) },
		func(c *cluster.Cluster) { c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}) },
		func(c *cluster.Cluster) { c.SetNodePool(gpuPool(stated)) },
	}
	first := follower()
	for _, f := range do {
		f(first)
	}
	want := first.World()
	d := want.Place("n").Node.Devices
	if len(d) != 1 || !d[0].Taken || len(d[0].Meets) != 1 || len(want.Pools()[0].Devices) != 1 {
		t.Fatalf("the node has %+v, the pool %+v", d, want.Pools()[0].Devices)
	}
	chance.Check(t, func(t *rapid.T) {
		c := follower()
		for _, f := range rapid.Permutation(do).Draw(t, "order") {
			f(c)
			if rapid.Bool().Draw(t, "look") {
				c.World()
			}
		}
		if got := c.World(); got.Digest() != want.Digest() {
			t.Fatal(cmp.Diff(want.Pods(), got.Pods()), cmp.Diff(want.Pools(), got.Pools()), cmp.Diff(want.Place("n"), got.Place("n")))
		}
	})
	first.DeleteResourceClaim(world.Key{Namespace: "d", Name: "q-gpu"})
	if d := first.World().Place("n").Node.Devices; d[0].Taken {
		t.Error("a device is taken by a claim that has gone")
	}
	first.DeleteResourceSlice("s-n")
	if d := first.World().Place("n").Node.Devices; d != nil {
		t.Errorf("the node still has %+v", d)
	}
}
