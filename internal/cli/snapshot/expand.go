package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/world"
)

// workload is an object that stands for pods which are not in the input themselves.
type workload struct {
	kind     string
	meta     metav1.ObjectMeta
	replicas int
	template corev1.PodTemplateSpec
	from     document
	disks    []corev1.PersistentVolumeClaim // of which each pod has its own
	called   string                         // what the names of its pods begin with, if that is not its own name
}

func (w workload) id() owner { return owner{w.kind, w.meta.Namespace, w.meta.Name} }

// field says how many pods it has.
func (w workload) field() string {
	if w.kind == "Job" {
		return "spec.parallelism"
	}
	return "spec.replicas"
}

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
		return workload{"Deployment", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, nil, ""}, true
	case *appsv1.ReplicaSet:
		return workload{"ReplicaSet", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, nil, ""}, true
	case *appsv1.StatefulSet:
		return workload{"StatefulSet", o.ObjectMeta, count(o.Spec.Replicas), o.Spec.Template, d, o.Spec.VolumeClaimTemplates, ""}, true
	case *corev1.ReplicationController:
		w := workload{"ReplicationController", o.ObjectMeta, count(o.Spec.Replicas), corev1.PodTemplateSpec{}, d, nil, ""}
		if o.Spec.Template != nil {
			w.template = *o.Spec.Template
		}
		return w, true
	case *batchv1.Job:
		return workload{"Job", o.ObjectMeta, runs(o, count(o.Spec.Parallelism)), o.Spec.Template, d, nil, ""}, true
	}
	return workload{}, false
}

// runs is how many pods a job has that may run so many at once: no more than it
// still needs, and none while it is suspended or once it has ended.
func runs(j *batchv1.Job, atOnce int) int {
	over := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
	if over || j.Spec.Suspend != nil && *j.Spec.Suspend {
		return 0
	}
	if j.Spec.Completions != nil {
		return min(atOnce, max(0, int(*j.Spec.Completions-j.Status.Succeeded)))
	}
	return atOnce
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

// endless refuses workloads whose owners lead back to themselves: none of them would stand for pods.
func endless(all []workload) error {
	there := make(map[owner]workload, len(all))
	for _, w := range all {
		there[w.id()] = w
	}
	for _, w := range all {
		next, owned := ownerOf(w.meta)
		for range all {
			if !owned || next == w.id() {
				break
			}
			next, owned = ownerOf(there[next].meta)
		}
		if owned && next == w.id() {
			return fmt.Errorf("%s: %s %s/%s: metadata.ownerReferences lead back to it: take one of them out", w.from.where(), w.kind, w.meta.Namespace, w.meta.Name)
		}
	}
	return nil
}

// christen gives the pods of workloads that have the same name, or whose pods
// would be called like one of the input, names of their own, and notes it.
func christen(all []workload, pods []*corev1.Pod) []string {
	taken := map[world.Key]string{}
	for _, p := range pods {
		if i := strings.LastIndexByte(p.Name, '-'); i >= 0 {
			taken[world.Key{Namespace: p.Namespace, Name: p.Name[:i]}] = "the pod " + p.Name
		}
	}
	order := make([]*workload, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	rank := []string{"StatefulSet", "Deployment", "ReplicaSet", "ReplicationController", "Job"} // pods of a StatefulSet really are called so
	slices.SortStableFunc(order, func(a, b *workload) int { return slices.Index(rank, a.kind) - slices.Index(rank, b.kind) })
	var notes []string
	for _, w := range order {
		k := world.Key{Namespace: w.meta.Namespace, Name: w.meta.Name}
		first, twice := taken[k]
		if !twice {
			taken[k] = "the " + w.kind
			continue
		}
		w.called = w.meta.Name + "-" + strings.ToLower(w.kind)
		notes = append(notes, fmt.Sprintf("the pods of %s %s/%s are called %s-0 and so on, because %s has the names", w.kind, k.Namespace, k.Name, w.called, first))
	}
	return notes
}

// pod returns the workload's pod number i, waiting.
func (w workload) pod(i int) corev1.Pod {
	yes := true
	name := cmp.Or(w.called, w.meta.Name)
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", name, i), Namespace: w.meta.Namespace,
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

// unlike reports whether the pods differ in more than their names: each has volumes or resource claims of its own.
func (w workload) unlike() bool {
	return len(w.disks)+len(w.template.Spec.ResourceClaims) > 0 || slices.ContainsFunc(w.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil })
}
