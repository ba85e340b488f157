package observe_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/observe"
)

func TestJobEnds(t *testing.T) {
	says := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: status}}
		}
	}
	deleted := func(finalizers ...string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = &metav1.Time{}, finalizers
		}
	}
	suspended := func(by *string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.Suspend, j.Spec.ManagedBy = new(true), by
		}
	}
	tests := map[string]struct {
		why  string
		job  func(*batchv1.Job)
		want bool
	}{
		"Runs":       {"A Job that runs needs its pods.", func(*batchv1.Job) {}, false},
		"Suspended":  {"The Job controller deletes the pods of one that is suspended,", suspended(nil), true},
		"ByName":     {"also where the Job names that controller.", suspended(new(batchv1.JobControllerName)), true},
		"ByAnother":  {"What another controller does with them is not known.", suspended(new("example.com/queue")), false},
		"Resumed":    {"One that goes on needs them.", func(j *batchv1.Job) { j.Spec.Suspend = new(false) }, false},
		"Complete":   {"It has succeeded,", says(batchv1.JobComplete, corev1.ConditionTrue), true},
		"Failed":     {"or failed,", says(batchv1.JobFailed, corev1.ConditionTrue), true},
		"ToSucceed":  {"or is about to, and its other pods are deleted first,", says(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), true},
		"ToFail":     {"for either reason.", says(batchv1.JobFailureTarget, corev1.ConditionTrue), true},
		"NotFailed":  {"A condition that is False says nothing,", says(batchv1.JobFailed, corev1.ConditionFalse), false},
		"WasStopped": {"nor does that it is suspended by its status: the spec decides.", says(batchv1.JobSuspended, corev1.ConditionTrue), false},
		"Foreground": {"Pods are deleted before a Job that is deleted in the foreground,", deleted(metav1.FinalizerDeleteDependents), true},
		"Orphans":    {"and stay where it leaves them.", deleted(metav1.FinalizerOrphanDependents), false},
		"HeldUp":     {"Another finalizer may wait for them to finish.", deleted("example.com/wait"), false},
		"NotDeleted": {"A finalizer alone deletes nothing.", func(j *batchv1.Job) { j.Finalizers = []string{metav1.FinalizerDeleteDependents} }, false},
		"AnothersEnd": {"The garbage collector does not look at what manages the Job.", func(j *batchv1.Job) {
			deleted(metav1.FinalizerDeleteDependents)(j)
			j.Spec.ManagedBy = new("example.com/queue")
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := &batchv1.Job{}
			tc.job(j)
			if got := observe.JobEnds(j); got != tc.want {
				t.Errorf("%s\nit ends: %v", tc.why, got)
			}
		})
	}
}
