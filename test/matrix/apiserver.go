package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
)

// errNoAnswer is what a client sees of a connection that breaks before the answer.
var errNoAnswer = errors.New("connection reset by the API server")

// request is what a fault sees of one call to the API server.
type request struct {
	Verb     string // get, list, watch, create, update, patch, delete
	Resource string // with its subresource: pods/eviction
	Name     string
}

func (r request) writes() bool { return r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" }

// answer is what a fault does to one call.
type answer struct {
	After time.Duration // it takes so long
	Err   error         // it is answered so, and does nothing
	Lost  bool          // it is carried out, and its answer is lost
}

// apiserver holds objects and serves them to clients whose Transport it is.
type apiserver struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	kinds  map[schema.GroupVersion]map[string]schema.GroupVersionKind // by resource

	mu     sync.Mutex
	at     int64                                  // the last resource version
	since  int64                                  // the oldest version from which can be watched
	tables map[schema.GroupVersionResource]*table // made when they are first named
	faults map[string]func(request) answer        // by name
	told   map[types.UID]int                      // events, by what they are about
	wrote  int                                    // writes answered
	open   map[*watcher]bool                      // all of them
}

// table is all objects of one resource.
type table struct {
	objects map[types.NamespacedName]client.Object
	events  []watch.Event // all there were
}

// watcher is one open watch. Its events wait in a list without end.
type watcher struct {
	of   schema.GroupVersionResource
	wake chan struct{}
	end  context.CancelFunc
	todo []watch.Event
}

// newServer returns an API server without objects.
func newServer() (*apiserver, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, err
		}
	}
	s := &apiserver{
		scheme: known, codecs: serializer.NewCodecFactory(known), kinds: map[schema.GroupVersion]map[string]schema.GroupVersionKind{},
		tables: map[schema.GroupVersionResource]*table{}, told: map[types.UID]int{}, faults: map[string]func(request) answer{}, open: map[*watcher]bool{}, at: 1000, since: 1000,
	}
	for _, gv := range []schema.GroupVersion{
		{Version: "v1"},
		{Group: "apps", Version: "v1"},
		{Group: "batch", Version: "v1"},
		{Group: "policy", Version: "v1"},
		{Group: "storage.k8s.io", Version: "v1"},
		{Group: "coordination.k8s.io", Version: "v1"},
		{Group: v1.Group, Version: "v1"},
	} {
		s.kinds[gv] = map[string]schema.GroupVersionKind{}
		for kind := range known.KnownTypes(gv) {
			if known.Recognizes(gv.WithKind(kind + "List")) {
				plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
				s.kinds[gv][plural.Resource] = gv.WithKind(kind)
			}
		}
	}
	return s, nil
}

// Fail has every call from now on go through f, as through what fails by other names; nil ends that.
func (s *apiserver) Fail(name string, f func(request) answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults, name)
	if f != nil {
		s.faults[name] = f
	}
}

// fate is what becomes of a call: all that is wrong adds up.
func (s *apiserver) fate(q request) (out answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range keys(s.faults) {
		a := s.faults[name](q)
		out.After += a.After
		out.Lost = out.Lost || a.Lost
		if out.Err == nil {
			out.Err = a.Err
		}
	}
	return out
}

// CutWatches ends all watches. With gone, what happened until now cannot be watched any more, so that all must list again.
func (s *apiserver) CutWatches(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		s.since = s.at
	}
	for w := range s.open {
		w.end()
	}
}

// Writes is how many writes were answered.
func (s *apiserver) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

// Told is how many events there are about an object.
func (s *apiserver) Told(uid types.UID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[uid]
}

// call is one request, taken apart.
type call struct {
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	name     types.NamespacedName
	sub      string
}

// RoundTrip answers a request without a network.
func (s *apiserver) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	if out := s.discovered(strings.Trim(r.URL.Path, "/")); out != nil {
		return respond(r, http.StatusOK, out)
	}
	c, ok := s.parse(r.URL.Path)
	if !ok {
		return s.refuse(r, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
	}
	q := request{Verb: verb(r, c), Resource: strings.TrimSuffix(c.resource.Resource+"/"+c.sub, "/"), Name: c.name.Name}
	fate := s.fate(q)
	if fate.After > 0 {
		wait := time.NewTimer(fate.After)
		defer wait.Stop()
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-wait.C:
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if fate.Err != nil {
		return s.refuse(r, fate.Err)
	}
	out, err := s.serve(r, c, q, body)
	if fate.Lost {
		return nil, errNoAnswer
	}
	return out, err
}

func verb(r *http.Request, c call) string {
	q := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		switch {
		case q.Get("watch") == "true" || q.Get("watch") == "1":
			return "watch"
		case c.name.Name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	}
	return strings.ToLower(r.Method)
}

func (s *apiserver) serve(r *http.Request, c call, q request, body []byte) (*http.Response, error) {
	if q.Verb == "watch" {
		return s.watch(r, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out runtime.Object
	var err error
	switch q.Verb {
	case "list":
		out, err = s.list(r, c)
	case "get":
		o, ok := s.table(c.resource).objects[c.name]
		if out = o; !ok {
			err = apierrors.NewNotFound(c.resource.GroupResource(), c.name.Name)
		}
	default:
		s.wrote++
		out, err = s.write(r, c, body)
	}
	if err != nil {
		return s.refuse(r, err)
	}
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	data, err := runtime.Encode(s.codecs.EncoderForVersion(info.Serializer, c.kind.GroupVersion()), apitest.Shallow(out))
	if err != nil {
		return nil, err
	}
	return respond(r, http.StatusOK, json.RawMessage(data))
}

func respond(r *http.Request, code int, what any) (*http.Response, error) {
	data, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	return page(r, code, io.NopCloser(bytes.NewReader(data))), nil
}

func page(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}, Body: body, ContentLength: -1, Request: r,
	}
}

// refuse answers with an error, as an API server words it.
func (s *apiserver) refuse(r *http.Request, err error) (*http.Response, error) {
	status := apierrors.APIStatus(apierrors.NewInternalError(err))
	if known, ok := errors.AsType[*apierrors.StatusError](err); ok {
		status = known
	}
	said := status.Status()
	said.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	out, err := respond(r, int(said.Code), said)
	if err == nil && said.Details != nil && said.Details.RetryAfterSeconds > 0 {
		out.Header.Set("Retry-After", strconv.Itoa(int(said.Details.RetryAfterSeconds)))
	}
	return out, err
}

// discovered is what there is; nil if the path does not ask for that.
func (s *apiserver) discovered(path string) any {
	switch path {
	case "version":
		return version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3"}
	case "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for gv := range s.kinds {
			if gv.Group != "" {
				v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
			}
		}
		return list
	}
	gv, err := schema.ParseGroupVersion(strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/"))
	kinds, ok := s.kinds[gv]
	if err != nil || !ok || strings.HasPrefix(path, "api/") != (gv.Group == "") {
		return nil
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for plural, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: plural, Kind: kind.Kind, Namespaced: namespaced(plural), Verbs: metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"},
		})
	}
	return list
}

func namespaced(resource string) bool {
	return slices.Contains([]string{"pods", "persistentvolumeclaims", "daemonsets", "jobs", "deployments", "replicasets", "statefulsets", "poddisruptionbudgets", "leases", "events", "configmaps", "secrets", "serviceaccounts"}, resource)
}

// parse takes the path of a request apart.
func (s *apiserver) parse(path string) (call, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var c call
	switch {
	case len(parts) > 2 && parts[0] == "api":
		c.resource.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.resource.Group, c.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return c, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.name.Namespace, parts = parts[1], parts[2:]
	}
	c.resource.Resource = parts[0]
	if len(parts) > 1 {
		c.name.Name = parts[1]
	}
	if len(parts) > 2 {
		c.sub = parts[2]
	}
	var ok bool
	c.kind, ok = s.kinds[c.resource.GroupVersion()][c.resource.Resource]
	return c, ok
}

func (s *apiserver) table(r schema.GroupVersionResource) *table {
	t := s.tables[r]
	if t == nil {
		t = &table{objects: map[types.NamespacedName]client.Object{}}
		s.tables[r] = t
	}
	return t
}

func (s *apiserver) sorted(r schema.GroupVersionResource, namespace string, match labels.Selector) []client.Object {
	var all []client.Object
	for _, o := range s.table(r).objects {
		if (namespace == "" || o.GetNamespace() == namespace) && match.Matches(labels.Set(o.GetLabels())) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b client.Object) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return all
}

func (s *apiserver) list(r *http.Request, c call) (runtime.Object, error) {
	match, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	list, err := s.scheme.New(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	all := s.sorted(c.resource, c.name.Namespace, match)
	items := make([]runtime.Object, len(all))
	for i, o := range all {
		items[i] = o
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, err
	}
	if m, err := meta.ListAccessor(list); err == nil {
		m.SetResourceVersion(strconv.FormatInt(s.at, 10))
	}
	return list, nil
}

func versionOf(o runtime.Object) int64 {
	m, err := meta.Accessor(o)
	if err != nil {
		return 0
	}
	v, _ := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	return v
}

// watch tells of changes until the client goes, the watch is cut or its time is up.
func (s *apiserver) watch(r *http.Request, c call) (*http.Response, error) {
	q := r.URL.Query()
	ctx, end := context.WithCancel(r.Context())
	if seconds, err := strconv.Atoi(q.Get("timeoutSeconds")); err == nil && seconds > 0 {
		ctx, end = context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	}
	w := &watcher{of: c.resource, wake: make(chan struct{}, 1), end: end}
	s.mu.Lock()
	t := s.table(c.resource)
	if q.Get("sendInitialEvents") == "true" {
		for _, o := range s.sorted(c.resource, c.name.Namespace, labels.Everything()) {
			w.todo = append(w.todo, watch.Event{Type: watch.Added, Object: o})
		}
		mark, err := s.scheme.New(c.kind)
		o, ok := mark.(client.Object)
		if err != nil || !ok {
			s.mu.Unlock()
			end()
			return nil, fmt.Errorf("%s cannot be watched: %w", c.kind, err)
		}
		o.SetResourceVersion(strconv.FormatInt(s.at, 10))
		o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		w.todo = append(w.todo, watch.Event{Type: watch.Bookmark, Object: o})
	} else if from, err := strconv.ParseInt(q.Get("resourceVersion"), 10, 64); err == nil {
		if from < s.since {
			s.mu.Unlock()
			end()
			return s.refuse(r, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, s.since)))
		}
		for _, e := range t.events {
			if versionOf(e.Object) > from {
				w.todo = append(w.todo, e)
			}
		}
	}
	w.wake <- struct{}{}
	s.open[w] = true
	s.mu.Unlock()
	body, pipe := io.Pipe()
	go s.tell(ctx, c, w, pipe)
	return page(r, http.StatusOK, closing{body, end}), nil
}

// closing is a body whose reader ends what writes it.
type closing struct {
	io.ReadCloser

	end context.CancelFunc
}

// Close is io.Closer's.
func (c closing) Close() error {
	c.end()
	return c.ReadCloser.Close()
}

// tell writes what happens to a watch.
func (s *apiserver) tell(ctx context.Context, c call, w *watcher, pipe *io.PipeWriter) {
	defer w.end()
	defer func() {
		s.mu.Lock()
		delete(s.open, w)
		s.mu.Unlock()
		_ = pipe.Close()
	}()
	stop := context.AfterFunc(ctx, func() { _ = pipe.Close() })
	defer stop()
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	encoder := s.codecs.EncoderForVersion(info.Serializer, c.kind.GroupVersion())
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		s.mu.Lock()
		todo := w.todo
		w.todo = nil
		s.mu.Unlock()
		for _, e := range todo {
			raw, err := runtime.Encode(encoder, apitest.Shallow(e.Object))
			if err != nil {
				return
			}
			line, err := json.Marshal(metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: raw}})
			if err != nil {
				return
			}
			if _, err := pipe.Write(append(line, '\n')); err != nil {
				return
			}
		}
	}
}
