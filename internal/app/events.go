package app

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

// voices is how many events are written side by side. Each has a queue of a
// thousand, so that thousands of pods that come at once are all told their verdicts.
const voices = 8

// publish returns what publishes events, until end is called. Readers look for
// events of the core, by their source.
func publish(m ctrl.Manager, now clock.Now) (events *loop.Events, end func(), err error) {
	// A client of its own: however much there is to tell, it does not keep what is done from being done.
	to, err := typedcorev1.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return nil, nil, fmt.Errorf("publish events: %w", err)
	}
	recorders, ends := make([]record.EventRecorder, voices), make([]func(), voices)
	for i := range recorders {
		b := record.NewBroadcaster()
		b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: to.Events("")})
		recorders[i] = b.NewRecorder(m.GetScheme(), corev1.EventSource{Component: "karpenter"})
		ends[i] = b.Shutdown
	}
	return loop.NewEvents(now, recorders...), func() {
		for _, end := range ends {
			end()
		}
	}, nil
}
