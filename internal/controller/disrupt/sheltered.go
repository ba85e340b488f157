package disrupt

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	// sheltersEvery is how often an event says until when a pod stays.
	sheltersEvery = time.Hour
	// lately is for how long an event may follow the end of a pod's time: a controller that
	// starts is not to publish one for every old pod.
	lately = 5 * time.Minute
)

// Sheltered are the pods on our machines that forbid for a while that they are
// moved: those whose time runs, and those whose time is over since lately.
func Sheltered(w *world.World) (still, over []*world.Pod) {
	for _, at := range w.Places() {
		if at.Claim == nil {
			continue
		}
		for _, p := range at.Pods {
			switch end, _ := p.ForbidsUntil(); {
			case end == 0 || p.Terminating: // it is for good, or not at all, or does not matter
			case w.At() < end:
				still = append(still, p)
			case w.At() < end+int64(lately/time.Second):
				over = append(over, p)
			}
		}
	}
	return still, over
}

// publishPods says in events on pods that forbid for a while that they are moved until when they do.
func (c *Controller) publishPods(w *world.World) {
	c.misread.publish(c.Events)
	still, over := Sheltered(w)
	for _, p := range still {
		end, _ := p.ForbidsUntil()
		at := time.Unix(end, 0).UTC().Format(time.RFC3339)
		c.Events.NormalEvery(sheltersEvery, podOf(p), "DoNotDisruptUntil", "Its annotation "+v1.AnnotationDoNotDisrupt+" keeps it where it is until "+at)
	}
	for _, p := range over {
		c.Events.NormalEvery(sheltersEvery, podOf(p), "DoNotDisruptGracePeriodElapsed", "The time of its annotation "+v1.AnnotationDoNotDisrupt+" is over: it may be moved")
	}
}

// unreadable are the pods that mean to say about being moved what cannot be read,
// and what that is.
type unreadable struct {
	mu   sync.Mutex
	pods map[world.Key]unreadableSetting
}

type unreadableSetting struct {
	uid string
	why string
}

// heard notes what a pod says now.
func (m *unreadable) heard(c cluster.Change) {
	if c.Kind != cluster.Pod {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case c.Is != nil && c.Misread != nil:
		if m.pods == nil {
			m.pods = map[world.Key]unreadableSetting{}
		}
		m.pods[c.Is.Key] = unreadableSetting{c.Is.UID, c.Misread.Error()}
	case c.Was != nil:
		delete(m.pods, c.Was.Key)
	}
}

// publish says in events on each of them what cannot be read.
func (m *unreadable) publish(e *loop.Events) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, is := range m.pods {
		e.WarningEvery(sheltersEvery, podOf(&world.Pod{Key: k, UID: is.uid}), "InvalidDoNotDisruptAnnotation", is.why)
	}
}

// podOf is a pod as far as events need it.
func podOf(p *world.Pod) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID)},
	}
}
