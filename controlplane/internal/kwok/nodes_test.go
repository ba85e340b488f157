package kwok

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

func TestANodeThatLosesItsAnnotationIsGone(t *testing.T) {
	node := func(a map[string]string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: a}}
	}
	for name, c := range map[string]struct {
		in   watch.Event
		want watch.EventType
	}{
		"annotated":                {watch.Event{Type: watch.Modified, Object: node(map[string]string{annotation: fake})}, watch.Modified},
		"no longer annotated":      {watch.Event{Type: watch.Modified, Object: node(nil)}, watch.Deleted},
		"of another simulator":     {watch.Event{Type: watch.Added, Object: node(map[string]string{annotation: "other"})}, watch.Deleted},
		"bookmarks carry no state": {watch.Event{Type: watch.Bookmark, Object: node(nil)}, watch.Bookmark},
	} {
		t.Run(name, func(t *testing.T) {
			got, keep := silence(c.in)
			if !keep || got.Type != c.want {
				t.Errorf("got %s (kept: %t), want %s", got.Type, keep, c.want)
			}
			if got.Type == watch.Deleted && got.Object.(*v1.Node).Annotations[annotation] != fake {
				t.Error("a deleted node must look annotated, or kwok drops its deletion")
			}
		})
	}
}

func TestStagesParse(t *testing.T) {
	got, err := stages()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range got {
		n += len(s)
	}
	if n != 7 || len(got) != 2 {
		t.Errorf("got %d stages of %d kinds, want 7 of 2: %v", n, len(got), got)
	}
}

// What pods say of themselves decides what becomes of them.
func TestStagesOfPods(t *testing.T) {
	all, err := stages()
	if err != nil {
		t.Fatal(err)
	}
	life, err := lifecycle.NewLifecycle(all[internalversion.StageResourceRef{APIGroup: "v1", Kind: "Pod"}])
	if err != nil {
		t.Fatal(err)
	}
	pod := func(phase v1.PodPhase, ready v1.ConditionStatus) *v1.Pod {
		p := &v1.Pod{Status: v1.PodStatus{Phase: phase}}
		if ready != "" {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: ready}}
		}
		return p
	}
	unhealthy := func(p *v1.Pod) *v1.Pod {
		p.Labels = map[string]string{"kwok.x-k8s.io/stage": "unhealthy"}
		return p
	}
	deleted := func(p *v1.Pod) *v1.Pod {
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		return p
	}
	slow := pod(v1.PodRunning, v1.ConditionTrue)
	slow.Annotations = map[string]string{"pod-delete.stage.kwok.x-k8s.io/delay": "40s"}
	for name, c := range map[string]struct {
		pod   *v1.Pod
		want  string
		delay time.Duration
	}{
		"new":                  {pod(v1.PodPending, ""), "pod-ready", 0},
		"running":              {pod(v1.PodRunning, v1.ConditionTrue), "", 0},
		"its node was silent":  {pod(v1.PodRunning, v1.ConditionFalse), "pod-ready-again", time.Second},
		"unhealthy":            {unhealthy(pod(v1.PodPending, "")), "pod-unhealthy", 0},
		"unhealthy stays so":   {unhealthy(pod(v1.PodRunning, v1.ConditionFalse)), "", 0},
		"unhealthy is deleted": {deleted(unhealthy(pod(v1.PodRunning, v1.ConditionFalse))), "pod-delete", 0},
		"slow runs":            {slow, "", 0},
		"slow is deleted":      {deleted(slow.DeepCopy()), "pod-delete-later", 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			e := &lifecycle.Event{Labels: c.pod.Labels, Annotations: c.pod.Annotations, Data: c.pod}
			got, err := life.ListAllPossible(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(got) > 0 {
					t.Errorf("stage %s is next, want none", got[0].Name())
				}
				return
			}
			if len(got) != 1 || got[0].Name() != c.want {
				t.Fatalf("%d stages may be next, want %s", len(got), c.want)
			}
			if delay, _, err := got[0].Delay(t.Context(), e, time.Unix(2, 0)); err != nil || delay != c.delay {
				t.Errorf("it comes after %s (%v), want %s", delay, err, c.delay)
			}
		})
	}
}
