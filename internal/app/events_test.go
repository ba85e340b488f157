package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/loop"
)

// writer is an API server that takes events, when it is open.
type writer struct {
	open   chan struct{}
	refuse func(call int) int // the status of a refusal; 0: it takes the event

	mu    sync.Mutex
	calls int
	told  map[string]int // events by the pod's name
}

func (w *writer) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	<-w.open
	var e corev1.Event
	err := json.NewDecoder(in.Body).Decode(&e)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	code := w.refuse(w.calls)
	out.Header().Set("Content-Type", "application/json")
	switch {
	case err != nil:
		http.Error(out, err.Error(), http.StatusBadRequest)
	case code != 0:
		reason := map[int]metav1.StatusReason{http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests}[code]
		out.WriteHeader(code)
		_ = json.NewEncoder(out).Encode(metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason}) //nolint:gosec // a status
	default:
		w.told[e.InvolvedObject.Name]++
		out.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(out).Encode(e)
	}
}

// speak starts publishing to a writer. Its end is the test's.
func speak(t *testing.T, w *writer) *loop.Events {
	t.Helper()
	server := httptest.NewServer(w)
	to, err := typedcorev1.NewForConfig(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	events, end := publishTo(to, scheme.Scheme, clock.Wall, time.Millisecond)
	t.Cleanup(func() { end(); server.CloseClientConnections(); server.Close() })
	return events
}

func tell(events *loop.Events, pods int) {
	for i := range pods {
		name := fmt.Sprint("pod-", i)
		events.Normal(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}, "FailedScheduling", "%s", "no node takes it")
	}
}

// An API server that throttles and fails now and then still hears of every pod, and the caller does not wait for it.
func TestThousandsOfPodsAreTold(t *testing.T) {
	const pods = 4000
	w := &writer{open: make(chan struct{}), told: map[string]int{}, refuse: func(call int) int {
		switch {
		case call%7 == 0:
			return http.StatusTooManyRequests
		case call%11 == 0:
			return http.StatusInternalServerError
		case call%13 == 0:
			return http.StatusServiceUnavailable
		}
		return 0
	}}
	events := speak(t, w)
	tell(events, pods) // the API server does not answer yet
	close(w.open)
	kubetest.Within(t, time.Minute, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.told) != pods {
			return fmt.Errorf("%d of %d pods were told", len(w.told), pods)
		}
		return nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for pod, n := range w.told {
		if n != 1 {
			t.Errorf("%s was told %d times", pod, n)
		}
	}
}

// What cannot be told is forgotten, and not heaped up.
func TestEventsAreBounded(t *testing.T) {
	const pods, queues = 30_000, eventWriters * 2 * 1000 // one of what comes, one of what is written
	w := &writer{open: make(chan struct{}), told: map[string]int{}, refuse: func(int) int { return 0 }}
	events := speak(t, w)
	tell(events, pods)
	close(w.open)
	told := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.told)
	}
	kubetest.Within(t, time.Minute, func() error {
		if n := told(); n < eventWriters*1000 {
			return fmt.Errorf("%d were told", n)
		}
		return nil
	})
	last := -1
	kubetest.Within(t, time.Minute, func() error { // until no more comes
		n := told()
		if n == last {
			return nil
		}
		last = n
		return fmt.Errorf("%d were told, and more come", n)
	})
	if last > queues+eventWriters {
		t.Errorf("%d of %d were kept, more than the queues hold", last, pods)
	}
}
