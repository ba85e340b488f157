package size

import (
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/apitest"
)

// watch tells of changes until the client goes.
func (s *server) watch(w http.ResponseWriter, r *http.Request, c call) {
	info := s.serializerFor(r)
	flush, ok := w.(http.Flusher)
	if !ok || info.StreamSerializer == nil {
		s.fail(w, apierrors.NewBadRequest("this connection cannot be watched over"))
		return
	}
	kind := info.MediaType
	if kind == runtime.ContentTypeProtobuf {
		kind += ";stream=watch"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(http.StatusOK)
	flush.Flush()
	embedded := s.codecs.EncoderForVersion(info.Serializer, c.kind.GroupVersion())
	outer := s.codecs.EncoderForVersion(info.StreamSerializer.Serializer, schema.GroupVersion{Version: "v1"})
	frames := info.StreamSerializer.NewFrameWriter(w)
	send := func(e watch.Event) error {
		raw, err := runtime.Encode(embedded, apitest.Shallow(e.Object))
		if err != nil {
			return err
		}
		return outer.Encode(&metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: raw}}, frames)
	}
	open, first := s.follow(c, r.URL.Query())
	defer func() {
		s.mu.Lock()
		delete(s.table(c.resource).watchers, open)
		s.mu.Unlock()
	}()
	for _, e := range first {
		if err := send(e); err != nil {
			return
		}
	}
	for {
		flush.Flush()
		select {
		case <-r.Context().Done():
			return
		case <-open.wake:
			for _, e := range open.take() {
				if err := send(e); err != nil {
					return
				}
			}
		}
	}
}

// follow begins to watch. What there is already comes first, if the query asks for it, and otherwise what changed since
// the version that it names.
func (s *server) follow(c call, q url.Values) (*watcher, []watch.Event) {
	open := &watcher{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(c.resource)
	t.watchers[open] = true
	if q.Get("sendInitialEvents") == "true" {
		return open, s.initial(c)
	}
	since, err := strconv.ParseInt(q.Get("resourceVersion"), 10, 64)
	if err != nil {
		return open, nil
	}
	for _, e := range t.events {
		if o, ok := e.Object.(client.Object); ok {
			if v, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64); err == nil && v > since {
				open.send(e)
			}
		}
	}
	return open, nil
}

// initial is all that there is of a kind, and a bookmark that says so.
func (s *server) initial(c call) []watch.Event {
	var out []watch.Event
	for _, o := range s.sorted(c) {
		out = append(out, watch.Event{Type: watch.Added, Object: o})
	}
	end, err := s.scheme.New(c.kind)
	if err != nil {
		return out
	}
	if o, ok := end.(client.Object); ok {
		o.SetResourceVersion(strconv.FormatInt(s.clock, 10))
		o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return append(out, watch.Event{Type: watch.Bookmark, Object: end})
}
