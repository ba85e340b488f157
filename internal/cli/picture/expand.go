package picture

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload is an object that stands for pods which are not in the input themselves.
type workload struct {
	kind     string
	meta     metav1.ObjectMeta
	replicas int
	template corev1.PodTemplateSpec
	from     document
	disks    []corev1.PersistentVolumeClaim // of which each pod has its own
}

func (w workload) id() owner { return owner{w.kind, w.meta.Namespace, w.meta.Name} }

// owner names a controller.
type owner struct{ kind, namespace, name string }

func ownerOf(m metav1.ObjectMeta) (owner, bool) {
	ref := metav1.GetControllerOfNoCopy(&m)
	if ref == nil {
		return owner{}, false
	}
	return owner{ref.Kind, m.Namespace, ref.Name}, true
}

// workloadOf returns the workload that an object is, and false if it is none.
func workloadOf(o any, d document) (workload, bool) {
	count := func(n *int32) int {
		if n == nil {
			return 1
		}
		return int(*n)
	}
	switch o := o.(type) {
	case *appsv1.Deployment:
		return workload{"Deployment", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, nil}, true
	case *appsv1.ReplicaSet:
		return workload{"ReplicaSet", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, nil}, true
	case *appsv1.StatefulSet:
		return workload{"StatefulSet", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, o.Spec.VolumeClaimTemplates}, true
	case *batchv1.Job:
		n := count(o.Spec.Parallelism)
		if o.Spec.Completions != nil {
			n = min(n, int(*o.Spec.Completions))
		}
		return workload{"Job", o.ObjectMeta, n, o.Spec.Template, d, nil}, true
	}
	return workload{}, false
}

// expandable returns the workloads that stand for pods: not those whose owner
// is in the input, nor those to which a pod or another workload of the input leads.
func expandable(all []workload, pods []metav1.ObjectMeta) []workload {
	there := make(map[owner]workload, len(all))
	for _, w := range all {
		there[w.id()] = w
	}
	represented := map[owner]bool{}
	for _, p := range pods {
		for o, ok := ownerOf(p); ok && !represented[o]; o, ok = ownerOf(there[o].meta) {
			represented[o] = true
		}
	}
	var out []workload
	for _, w := range all {
		o, owned := ownerOf(w.meta)
		_, ownerHere := there[o]
		if !represented[w.id()] && !(owned && ownerHere) {
			out = append(out, w)
		}
	}
	return out
}

// pod returns the workload's pod number i, waiting.
func (w workload) pod(i int) corev1.Pod {
	yes := true
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", w.meta.Name, i), Namespace: w.meta.Namespace,
			Labels: w.template.Labels, Annotations: w.template.Annotations, CreationTimestamp: w.meta.CreationTimestamp,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: w.kind, Name: w.meta.Name, UID: w.meta.UID, Controller: &yes}},
		},
		Spec: w.template.Spec,
	}
	p.Spec.NodeName = ""
	if len(w.disks) == 0 {
		return p
	}
	p.Spec.Volumes = slices.DeleteFunc(slices.Clone(p.Spec.Volumes), func(v corev1.Volume) bool {
		return slices.ContainsFunc(w.disks, func(d corev1.PersistentVolumeClaim) bool { return d.Name == v.Name })
	})
	for _, d := range w.disks {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: d.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: d.Name + "-" + p.Name},
		}})
	}
	return p
}

// unlike reports whether the pods differ in more than their names: each has volumes of its own.
func (w workload) unlike() bool {
	return len(w.disks) > 0 || slices.ContainsFunc(w.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil })
}
