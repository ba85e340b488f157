package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// stock is the PersistentVolumes without a class, which claims without one are bound to as soon as both are there.
type stock []*corev1.PersistentVolume

// add puts a volume in that a claim could still be bound to.
func (s *stock) add(v *corev1.PersistentVolume) {
	free := v.Status.Phase == "" || v.Status.Phase == corev1.VolumePending || v.Status.Phase == corev1.VolumeAvailable
	if v.Spec.StorageClassName == "" && v.Annotations[corev1.BetaStorageClassAnnotation] == "" && free && v.DeletionTimestamp == nil {
		*s = append(*s, v)
	}
}

// take returns the volume that the claim is bound to, and takes it out: one that is kept for the claim, else the smallest that will do.
func (s *stock) take(k world.Key, c *corev1.PersistentVolumeClaimSpec) (string, bool) {
	best := -1
	for i, v := range *s {
		if suits(v, k, c) && (best < 0 || before(v, (*s)[best])) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	name := (*s)[best].Name
	*s = slices.Delete(*s, best, best+1)
	return name, true
}

// before orders volumes that suit a claim.
func before(a, b *corev1.PersistentVolume) bool {
	if (a.Spec.ClaimRef != nil) != (b.Spec.ClaimRef != nil) {
		return a.Spec.ClaimRef != nil
	}
	x, y := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
	return cmp.Or(x.Cmp(y), strings.Compare(a.Name, b.Name)) < 0
}

// suits reports whether the claim may be bound to the volume.
func suits(v *corev1.PersistentVolume, k world.Key, c *corev1.PersistentVolumeClaimSpec) bool {
	mode := func(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
		if m == nil {
			return corev1.PersistentVolumeFilesystem
		}
		return *m
	}
	has, wants := v.Spec.Capacity[corev1.ResourceStorage], c.Resources.Requests[corev1.ResourceStorage]
	if ref := v.Spec.ClaimRef; ref != nil && (cmp.Or(ref.Namespace, "default") != k.Namespace || ref.Name != k.Name) {
		return false
	}
	if has.Cmp(wants) < 0 || mode(v.Spec.VolumeMode) != mode(c.VolumeMode) {
		return false
	}
	for _, m := range c.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, m) {
			return false
		}
	}
	if c.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(c.Selector)
	return err == nil && selector.Matches(labels.Set(v.Labels))
}

// set puts a volume in.
func (v *volumes) set(pv *corev1.PersistentVolume) {
	v.pvs[pv.Name] = observe.ReadPersistentVolume(pv)
	v.free.add(pv)
}

// settle binds the claims of the input that no volume is made for, as the controller that binds volumes would have.
func (v *volumes) settle() {
	less := func(a, b world.Key) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}
	for _, k := range slices.SortedFunc(maps.Keys(v.written), less) {
		c, _ := v.claim(k)
		v.pvcs[k] = v.settled(k, c, &v.written[k].Spec)
	}
}

// settled is the claim, bound if it is one that no volume is made for and a volume is there.
func (v *volumes) settled(k world.Key, c observe.VolumeClaim, spec *corev1.PersistentVolumeClaimSpec) observe.VolumeClaim {
	if c.Volume != "" || c.Class != "" || c.Lost || c.Deleting {
		return c
	}
	if name, ok := v.free.take(k, spec); ok {
		c.Volume, c.Bound = name, true
	}
	return c
}
