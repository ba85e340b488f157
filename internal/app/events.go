package app

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	// eventWriters is how many events are written side by side. Each has a queue of a
	// thousand, so that thousands of pods that come at once all hear why they wait.
	eventWriters = 8
	// nominationsPerSecond and nominationsAtOnce are how many pods hear by an event which claim or node they wait for. Of a thousand pods
	// that come at once each would get two, a seventh of all requests until they run. Their status names the node as well.
	nominationsPerSecond = 10
	nominationsAtOnce    = 100
	// eventRetryAfter is how long a voice waits before it tries again what the API server
	// could not take; its client has tried some times by then.
	eventRetryAfter = 10 * time.Second
)

// publish returns what publishes events, until end is called.
func publish(m ctrl.Manager, now clock.Now) (events *loop.Events, end func(), err error) {
	// A client of its own: however much there is to tell, it does not keep what is done from being done.
	to, err := typedcorev1.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return nil, nil, fmt.Errorf("publish events: %w", err)
	}
	events, end = publishTo(to, m.GetScheme(), now, eventRetryAfter)
	return events, end, nil
}

// publishTo publishes events as those of the core: readers look for them by
// their source. A publisher never waits; what does not fit into a queue is forgotten.
func publishTo(to typedcorev1.EventsGetter, known *runtime.Scheme, now clock.Now, breath time.Duration) (events *loop.Events, end func()) {
	recorders, ends := make([]record.EventRecorder, eventWriters), make([]func(), eventWriters)
	for i := range recorders {
		b := record.NewBroadcaster(record.WithSleepDuration(breath))
		b.StartRecordingToSink(retryingSink{&typedcorev1.EventSinkImpl{Interface: to.Events("")}})
		recorders[i] = b.NewRecorder(known, corev1.EventSource{Component: "karpenter"})
		ends[i] = b.Shutdown
	}
	events = loop.NewEvents(now, recorders...)
	events.Pace("Nominated", nominationsPerSecond, nominationsAtOnce)
	return events, func() {
		for _, end := range ends {
			end()
		}
	}
}

// retryingSink has events written again that the API server could not take just
// then. The recorder by itself forgets an event whatever the API server answers.
type retryingSink struct{ record.EventSink }

// Create is the recorder's.
func (s retryingSink) Create(e *corev1.Event) (*corev1.Event, error) {
	return later(s.EventSink.Create(e))
}

// Patch is the recorder's.
func (s retryingSink) Patch(old *corev1.Event, data []byte) (*corev1.Event, error) {
	return later(s.EventSink.Patch(old, data))
}

func later(e *corev1.Event, err error) (*corev1.Event, error) {
	switch {
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err):
		return e, fmt.Errorf("write it later: %w", err) // what is wrapped is no answer to the recorder
	}
	return e, err
}
