package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func claim(name, uid, version string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

func names(w *world.World) []string {
	var out []string
	for _, p := range w.Places() {
		out = append(out, p.Name()+":"+p.Claim.UID)
	}
	return out
}

func want(t *testing.T, why string, w *world.World, claims ...string) {
	t.Helper()
	if diff := cmp.Diff(claims, names(w)); diff != "" {
		t.Errorf("%s: -want +got\n%s", why, diff)
	}
}

func TestOurOwnWritesAreThereAtOnce(t *testing.T) {
	now := noon
	c := cluster.New(func() time.Time { return now })
	c.Wrote(claim("a", "1", "10"))
	want(t, "a claim we wrote counts before any watch shows it", c.World(), "a:1")

	deleting := claim("a", "1", "12")
	deleting.DeletionTimestamp = &metav1.Time{Time: noon}
	c.Wrote(deleting)
	c.SetClaim(claim("a", "1", "10"))
	if !c.World().Place("a").Deleting() {
		t.Error("an old event undid a newer write")
	}
	c.SetClaim(claim("a", "2", "20"))
	want(t, "a new object takes the name", c.World(), "a:2")
	c.DeleteClaim("a", "1")
	want(t, "the end of an old object does not end its successor", c.World(), "a:2")

	c.Wrote(claim("b", "3", "30"))
	now = now.Add(29 * time.Second)
	want(t, "a write that no watch has shown yet stays for a while", c.World(), "a:2", "b:3")
	now = now.Add(2 * time.Second)
	want(t, "but not for ever: it may have come and gone unseen", c.World(), "a:2")
}

func pod(name string, pvc string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}}
	if pvc != "" {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pvc},
		}}}
	}
	return p
}

// The order in which watches deliver does not show.
func TestAnyOrderGivesTheSameWorld(t *testing.T) {
	steps := map[string]func(*cluster.Cluster){
		"pod":   func(c *cluster.Cluster) { c.SetPod(pod("p", "claim")) },
		"plain": func(c *cluster.Cluster) { c.SetPod(pod("q", "")) },
		"gone": func(c *cluster.Cluster) {
			c.SetPod(pod("r", "claim"))
			c.DeletePod(world.Key{Namespace: "d", Name: "r"})
		},
		"pvc": func(c *cluster.Cluster) { c.SetVolumeClaim(boundClaim()) },
		"pv": func(c *cluster.Cluster) {
			c.SetVolume(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "files", VolumeHandle: "fs-1"}},
			}})
		},
		"driver": func(c *cluster.Cluster) {
			c.SetCSIDriver(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "files"}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(bool)}})
		},
		"ofJob":   func(c *cluster.Cluster) { c.SetPod(ofJob("1")) },
		"job":     func(c *cluster.Cluster) { c.SetJob(suspended("1")) },
		"goes":    func(c *cluster.Cluster) { c.DeleteJob(world.Key{Namespace: "d", Name: "other"}) },
		"node":    func(c *cluster.Cluster) { c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}) },
		"claim":   func(c *cluster.Cluster) { c.SetClaim(claim("a", "1", "7")) },
		"catalog": func(c *cluster.Cluster) { c.Publish(world.Catalog{Template: "t"}) },
	}
	var order []string
	for name := range steps {
		order = append(order, name)
	}
	digest := ""
	chance.Check(t, func(t *rapid.T) {
		c := cluster.New(clock.At(noon))
		for _, name := range rapid.Permutation(order).Draw(t, "order") {
			steps[name](c)
			if rapid.Bool().Draw(t, "look") {
				c.World()
			}
		}
		got := c.World().Digest()
		if digest == "" {
			digest = got
		}
		if got != digest {
			t.Errorf("another order gave another world: %s, first %s", got, digest)
		}
	})
}

// A driver that says its volumes are not attached is believed, until it is gone.
func TestVolumesThatAreNotAttached(t *testing.T) {
	c := cluster.New(clock.At(noon))
	c.SetPod(pod("p", "claim"))
	c.SetVolumeClaim(boundClaim())
	c.SetVolume(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "files", VolumeHandle: "fs-1"}},
	}})
	oneNode := func() bool { return c.World().Pod(world.Key{Namespace: "d", Name: "p"}).Volumes[0].OneNode }
	if !oneNode() {
		t.Error("a ReadWriteOnce volume of a driver that nothing is known of is not for one node")
	}
	c.SetCSIDriver(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "files"}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(bool)}})
	if oneNode() {
		t.Error("a volume that needs no attachment is for one node")
	}
	c.DeleteCSIDriver("files")
	if !oneNode() {
		t.Error("what a driver said holds after it is gone")
	}
}

// Pods of a Job that ends are known to, as long as it does and is the Job that made them.
func TestJobsThatEnd(t *testing.T) {
	key := world.Key{Namespace: "d", Name: "work"}
	tests := map[string]struct {
		why  string
		do   func(*cluster.Cluster)
		want bool
	}{
		"Before": {"The Job may be seen first,", func(c *cluster.Cluster) { c.SetJob(suspended("1")); c.SetPod(ofJob("1")) }, true},
		"After":  {"or the pod.", func(c *cluster.Cluster) { c.SetPod(ofJob("1")); c.SetJob(suspended("1")) }, true},
		"Resumed": {"A Job that goes on keeps its pods.", func(c *cluster.Cluster) {
			c.SetPod(ofJob("1"))
			c.SetJob(suspended("1"))
			j := suspended("1")
			j.Spec.Suspend = new(false)
			c.SetJob(j)
		}, false},
		"Another": {"Of a Job of that name that was there before nothing is told.", func(c *cluster.Cluster) { c.SetPod(ofJob("2")); c.SetJob(suspended("1")) }, false},
		"Anew":    {"A pod of that name may be one of another Job later.", func(c *cluster.Cluster) { c.SetJob(suspended("1")); c.SetPod(ofJob("1")); c.SetPod(ofJob("2")) }, false},
		"Gone":    {"A Job that is not there ends nothing.", func(c *cluster.Cluster) { c.SetPod(ofJob("1")); c.SetJob(suspended("1")); c.DeleteJob(key) }, false},
		"Shared": {"A pod with two owners may outlive one.", func(c *cluster.Cluster) {
			p := ofJob("1")
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "9"})
			c.SetPod(p)
			c.SetJob(suspended("1"))
		}, false},
		"Planned": {"A pod that has a place in a plan ends as well.", func(c *cluster.Cluster) {
			c.SetPod(ofJob("1"))
			c.SetJob(suspended("1"))
			c.Plan(map[world.Key]string{{Namespace: "d", Name: "of-job"}: "claim"})
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster.New(clock.At(noon))
			var told []cluster.Change
			c.Listen(func(change cluster.Change) { told = append(told, change) })
			tc.do(c)
			p := c.World().Pod(world.Key{Namespace: "d", Name: "of-job"})
			if p.Ending != tc.want {
				t.Errorf("%s\nits pod ends: %v", tc.why, p.Ending)
			}
			if last := told[len(told)-1]; name == "After" && (last.Is == nil || !last.Is.Ending || last.Was.Ending) {
				t.Errorf("the next plan is told %+v", last)
			}
		})
	}
}

func suspended(uid types.UID) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "work", UID: uid}, Spec: batchv1.JobSpec{Suspend: new(true)}}
}

func ofJob(uid types.UID) *corev1.Pod {
	p := pod("of-job", "")
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "work", UID: uid, Controller: new(true)}}
	return p
}

func boundClaim() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "claim"},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "disk"},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
}

func TestListenersSeeWhatAPodWas(t *testing.T) {
	c := cluster.New(clock.At(noon))
	var seen []string
	c.Listen(func(ch cluster.Change) {
		node := func(p *world.Pod) string {
			if p == nil {
				return "-"
			}
			return "on " + p.Node
		}
		if ch.Kind == cluster.Pod {
			seen = append(seen, fmt.Sprintf("%s %s → %s", ch.Name, node(ch.Was), node(ch.Is)))
		}
	})
	p := pod("p", "")
	c.SetPod(p)
	p = p.DeepCopy()
	p.Spec.NodeName = "n1"
	c.SetPod(p)
	c.DeletePod(world.Key{Namespace: "d", Name: "p"})
	if diff := cmp.Diff([]string{"d/p - → on ", "d/p on  → on n1", "d/p on n1 → -"}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestSyncedWhenAllHaveDelivered(t *testing.T) {
	c := cluster.New(clock.At(noon), "a", "b")
	c.Delivered("a")
	if ok, _ := c.Synced(); ok {
		t.Error("synced although b has not delivered")
	}
	c.Delivered("b")
	if ok, _ := c.Synced(); !ok {
		t.Errorf("not synced, missing %v", c.Missing())
	}
}

func TestPlanStaysWithPods(t *testing.T) {
	c := cluster.New(clock.At(noon))
	key := world.Key{Namespace: "d", Name: "p"}
	planned := func() string { return c.World().Pod(key).Planned }
	c.SetPod(pod("p", ""))
	c.Plan(map[world.Key]string{key: "claim"})
	if got := planned(); got != "claim" {
		t.Errorf("planned for %q, want claim: the plan says so", got)
	}
	c.SetPod(pod("p", ""))
	if got := planned(); got != "claim" {
		t.Errorf("planned for %q, want claim: the pod is seen again", got)
	}
	c.Plan(map[world.Key]string{{Namespace: "d", Name: "other"}: "claim"})
	if got := planned(); got != "" {
		t.Errorf("planned for %q: the next plan has no place for it", got)
	}
	c.Plan(map[world.Key]string{key: "claim"})
	bound := pod("p", "")
	bound.Spec.NodeName = "n1"
	c.SetPod(bound)
	if got := planned(); got != "" {
		t.Errorf("planned for %q although it runs", got)
	}
}
