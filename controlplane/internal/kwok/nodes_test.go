package kwok

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
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
	if n != 5 || len(got) != 2 {
		t.Errorf("got %d stages of %d kinds, want 5 of 2: %v", n, len(got), got)
	}
}
