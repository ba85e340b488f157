package snapshot

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// volumes are the storage objects of the input.
type volumes struct {
	pvcs    map[world.Key]observe.VolumeClaim
	pvs     map[string]observe.PersistentVolume
	classes map[string]observe.StorageClass
	common  string          // the class of claims that name none
	unknown map[string]bool // classes that are not in the input, of claims that will be made

	written map[world.Key]*corev1.PersistentVolumeClaim // as they stand in the input
	free    stock

	unattached map[string]bool // CSI drivers whose volumes nodes reach without attaching them
}

// anywhere is the class of claims that will be made and of whose class nothing is known.
const anywhere = "(anywhere)"

func newVolumes() volumes {
	return volumes{
		pvcs: map[world.Key]observe.VolumeClaim{}, pvs: map[string]observe.PersistentVolume{}, classes: map[string]observe.StorageClass{anywhere: {}},
		unknown: map[string]bool{}, written: map[world.Key]*corev1.PersistentVolumeClaim{}, unattached: map[string]bool{},
	}
}

// bind reads a pod with its volumes resolved.
func (v volumes) bind(p *corev1.Pod) world.Pod {
	find := observe.Volumes{
		Claim: v.claim, Volume: of(v.pvs), Class: of(v.classes), Unattached: func(driver string) bool { return v.unattached[driver] },
	}
	return find.Bind(observe.Pod(p), observe.Mounts(p))
}

// claim finds a claim; one that says nothing of a class gets the common one.
func (v volumes) claim(k world.Key) (observe.VolumeClaim, bool) {
	c, ok := v.pvcs[k]
	if ok && c.Class == "" && c.Volume == "" && !c.Static {
		c.Class = v.common
	}
	return c, ok
}

// own adds the claims that will be made for a pod, as a StatefulSet or the pod
// itself has them, unless they are there already. Where the class is not in the
// input, any place is taken to do.
func (v *volumes) own(p *corev1.Pod, disks []corev1.PersistentVolumeClaim) {
	add := func(name string, spec corev1.PersistentVolumeClaimSpec) {
		k := world.Key{Namespace: p.Namespace, Name: name}
		if _, there := v.pvcs[k]; there {
			return
		}
		c := observe.ReadVolumeClaim(&corev1.PersistentVolumeClaim{Spec: spec})
		if c.Class == "" && !c.Static {
			c.Class = v.common
		}
		if c.Static {
			v.pvcs[k] = v.settled(k, c, &spec)
			return
		}
		if _, known := v.classes[c.Class]; !known {
			v.unknown[c.Class] = true
			c.Class = anywhere
		}
		v.pvcs[k] = c
	}
	for _, d := range disks {
		add(d.Name+"-"+p.Name, d.Spec)
	}
	for _, x := range p.Spec.Volumes {
		if x.Ephemeral != nil && x.Ephemeral.VolumeClaimTemplate != nil {
			add(p.Name+"-"+x.Name, x.Ephemeral.VolumeClaimTemplate.Spec)
		}
	}
}

func of[K comparable, V any](m map[K]V) func(K) (V, bool) {
	return func(k K) (V, bool) { v, ok := m[k]; return v, ok }
}
