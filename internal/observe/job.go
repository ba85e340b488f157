package observe

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/engine/world"
)

// JobEnds reports whether all pods that a Job has are about to be deleted, or are
// not needed any more, so that one which waits will never run:
//
//   - it is suspended, or its conditions say that it has succeeded or failed, or
//     has begun to (SuccessCriteriaMet, FailureTarget): the Job controller deletes
//     its pods. Of a Job that another controller manages (spec.managedBy) this is
//     not known;
//   - it is being deleted in the foreground: the garbage collector deletes its pods first.
//
// A Job that is deleted in the background is gone before its pods are, and one that is
// deleted with orphans leaves them: nothing can be concluded from either. Other finalizers
// hold the Job up, and its pods may go on meanwhile.
func JobEnds(j *batchv1.Job) bool {
	if j.DeletionTimestamp != nil && slices.Contains(j.Finalizers, metav1.FinalizerDeleteDependents) {
		return true
	}
	if by := j.Spec.ManagedBy; by != nil && *by != batchv1.JobControllerName {
		return false
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		return true
	}
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		switch c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget:
			return c.Status == corev1.ConditionTrue
		}
		return false
	})
}

// JobOf returns the Job that made a pod, and its UID; the UID is empty where none
// did. A pod with a second owner may outlive the first, so it counts as no Job's.
func JobOf(p *corev1.Pod) (world.Key, types.UID) {
	if len(p.OwnerReferences) != 1 {
		return world.Key{}, ""
	}
	if o := p.OwnerReferences[0]; o.Kind == "Job" && o.APIVersion == "batch/v1" && o.Controller != nil && *o.Controller {
		return world.Key{Namespace: p.Namespace, Name: o.Name}, o.UID
	}
	return world.Key{}, ""
}
