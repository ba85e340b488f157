package picture

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
}

func newVolumes() volumes {
	return volumes{map[world.Key]observe.VolumeClaim{}, map[string]observe.PersistentVolume{}, map[string]observe.StorageClass{}}
}

// bind reads a pod with its volumes resolved.
func (v volumes) bind(p *corev1.Pod) world.Pod {
	find := observe.Volumes{Claim: of(v.pvcs), Volume: of(v.pvs), Class: of(v.classes)}
	return find.Bind(observe.Pod(p), observe.Mounts(p))
}

func of[K comparable, V any](m map[K]V) func(K) (V, bool) {
	return func(k K) (V, bool) { v, ok := m[k]; return v, ok }
}
