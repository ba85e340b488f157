// Package size measures how much memory the controller takes, as a process of its own, in clusters of any size.
//
// The API server here is an HTTP server with a map behind it: a real one
// needs more memory and processor time for 150,000 pods than what is measured.
// It speaks what clients of Kubernetes speak when they list, watch and write,
// in protobuf and in JSON, and has no admission, no defaults and no rules.
package size

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
)

// server holds objects and serves them.
type server struct {
	URL string

	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	kinds  map[schema.GroupVersion]map[string]schema.GroupVersionKind // by resource

	mu     sync.Mutex
	clock  int64                                  // the last resource version
	tables map[schema.GroupVersionResource]*table // made when they are first named
	wrote  map[string]int                         // by verb and resource
	heard  func(watch.EventType, client.Object)   // told of every change, under the lock; nil: nothing is
	pages  int                                    // lists answered

	unbound int // pods without a node: counted here, since each request holds up all others
}

// table is all objects of one resource.
type table struct {
	objects  map[types.NamespacedName]client.Object
	watchers map[*watcher]bool
	events   []watch.Event // all there were
}

// watcher is one open watch. Its events wait in a list without end, so that a slow reader keeps none else waiting.
type watcher struct {
	wake chan struct{}
	mu   sync.Mutex
	todo []watch.Event
}

func (w *watcher) send(e watch.Event) {
	w.mu.Lock()
	w.todo = append(w.todo, e)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() []watch.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.todo
	w.todo = nil
	return out
}

// newServer serves until its Close is called.
func newServer() (*server, func(), error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1.AddToScheme, awsv1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, nil, err
		}
	}
	s := &server{
		scheme: known, codecs: serializer.NewCodecFactory(known), kinds: map[schema.GroupVersion]map[string]schema.GroupVersionKind{},
		tables: map[schema.GroupVersionResource]*table{}, wrote: map[string]int{}, clock: 1000,
	}
	for _, gv := range []string{
		"v1", "apps/v1", "batch/v1", "policy/v1", "storage.k8s.io/v1", "coordination.k8s.io/v1", "events.k8s.io/v1", "resource.k8s.io/v1", v1.Group + "/v1", awsv1.Group + "/v1",
	} {
		group, err := schema.ParseGroupVersion(gv)
		if err != nil {
			return nil, nil, err
		}
		s.kinds[group] = map[string]schema.GroupVersionKind{}
		for kind := range known.KnownTypes(group) {
			if known.Recognizes(group.WithKind(kind + "List")) {
				plural, _ := meta.UnsafeGuessKindToResource(group.WithKind(kind))
				s.kinds[group][plural.Resource] = group.WithKind(kind)
			}
		}
	}
	h := httptest.NewUnstartedServer(s)
	h.Start()
	s.URL = h.URL
	return s, func() { h.CloseClientConnections(); h.Close() }, nil
}

// add puts objects there as if they had been for long.
func (s *server) add(objects ...client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range objects {
		r, err := s.resourceOf(o)
		if err != nil {
			return err
		}
		s.born(o)
		s.keep(s.table(r), o)
	}
	return nil
}

// keep stores an object, and drop takes one out. The lock is held.
func (s *server) keep(t *table, o client.Object) {
	s.drop(t, o)
	t.objects[client.ObjectKeyFromObject(o)] = o
	s.unbound += waits(o)
}

func (s *server) drop(t *table, o client.Object) {
	k := client.ObjectKeyFromObject(o)
	if was, there := t.objects[k]; there {
		s.unbound -= waits(was)
		delete(t.objects, k)
	}
}

// waits is 1 for a pod without a node.
func waits(o client.Object) int {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName == "" {
		return 1
	}
	return 0
}

// count is how many objects of a resource there are that meet a condition.
func (s *server) count(r schema.GroupVersionResource, which func(client.Object) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, o := range s.table(r).objects {
		if which(o) {
			n++
		}
	}
	return n
}

// writes is what was written so far.
func (s *server) writes() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.wrote)
}

func (s *server) resourceOf(o client.Object) (schema.GroupVersionResource, error) {
	gvks, _, err := s.scheme.ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	r, _ := meta.UnsafeGuessKindToResource(gvks[0])
	return r, nil
}

func (s *server) table(r schema.GroupVersionResource) *table {
	t := s.tables[r]
	if t == nil {
		t = &table{objects: map[types.NamespacedName]client.Object{}, watchers: map[*watcher]bool{}}
		s.tables[r] = t
	}
	return t
}

// born gives a new object what an API server gives.
func (s *server) born(o client.Object) {
	s.clock++
	o.SetResourceVersion(strconv.FormatInt(s.clock, 10))
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + strconv.FormatInt(s.clock, 36))
	}
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.clock)))
	}
	if o.GetCreationTimestamp().Time.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(time.Now()))
	}
	o.SetGeneration(max(o.GetGeneration(), 1))
}

// put stores an object and tells of it. The lock is held.
func (s *server) put(r schema.GroupVersionResource, what watch.EventType, o client.Object) {
	s.clock++
	o.SetResourceVersion(strconv.FormatInt(s.clock, 10))
	t := s.table(r)
	if what == watch.Deleted {
		s.drop(t, o)
	} else {
		s.keep(t, o)
	}
	e := watch.Event{Type: what, Object: o}
	t.events = append(t.events, e)
	for w := range t.watchers {
		w.send(e)
	}
	if s.heard != nil {
		s.heard(what, o)
	}
}

// change has an object replaced by what do makes of a copy of it.
func (s *server) change(r schema.GroupVersionResource, k types.NamespacedName, do func(client.Object) error) (client.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed(r, k, do)
}

func (s *server) changed(r schema.GroupVersionResource, k types.NamespacedName, do func(client.Object) error) (client.Object, error) {
	was, ok := s.table(r).objects[k]
	if !ok {
		return nil, apierrors.NewNotFound(r.GroupResource(), k.Name)
	}
	next, ok := was.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", was)
	}
	if err := do(next); err != nil {
		return nil, err
	}
	what := watch.Modified
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		what = watch.Deleted
	}
	s.put(r, what, next)
	return next, nil
}

// call is one request, taken apart.
type call struct {
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	name     types.NamespacedName
	sub      string
}

// ServeHTTP is http.Handler's.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.discovered(w, r) {
		return
	}
	c, ok := s.parse(r.URL.Path)
	if !ok {
		s.fail(w, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
		return
	}
	if r.Method == http.MethodGet {
		s.read(w, r, c)
		return
	}
	s.mu.Lock()
	s.wrote[strings.TrimSuffix(r.Method+" "+c.resource.Resource+"/"+c.sub, "/")]++
	s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	o, err := s.write(r, c, body)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.answer(w, r, o, c.kind.GroupVersion())
}

// discovered answers what there is.
func (s *server) discovered(w http.ResponseWriter, r *http.Request) bool {
	var out any
	switch path := strings.Trim(r.URL.Path, "/"); path {
	case "version":
		out = version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3"}
	case "api":
		out = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for gv := range s.kinds {
			if gv.Group != "" {
				v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
			}
		}
		out = list
	default:
		gv, err := schema.ParseGroupVersion(strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/"))
		kinds, ok := s.kinds[gv]
		if err != nil || !ok || strings.HasPrefix(path, "api/") != (gv.Group == "") {
			return false
		}
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
		for plural, kind := range kinds {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: plural, Kind: kind.Kind, Namespaced: !clusterWide()[plural], Verbs: metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"},
			})
		}
		out = list
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
	return true
}

func clusterWide() map[string]bool {
	out := map[string]bool{}
	for _, r := range []string{"nodes", "namespaces", "persistentvolumes", "storageclasses", "csinodes", "csidrivers", "volumeattachments", "nodeclaims", "nodepools", "ec2nodeclasses"} {
		out[r] = true
	}
	return out
}

// parse takes the path of a request apart.
func (s *server) parse(path string) (call, bool) {
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

func (s *server) read(w http.ResponseWriter, r *http.Request, c call) {
	q := r.URL.Query()
	switch {
	case q.Get("watch") == "true" || q.Get("watch") == "1":
		s.watch(w, r, c)
	case c.name.Name != "":
		s.mu.Lock()
		o, ok := s.table(c.resource).objects[c.name]
		s.mu.Unlock()
		if !ok {
			s.fail(w, apierrors.NewNotFound(c.resource.GroupResource(), c.name.Name))
			return
		}
		s.answer(w, r, o, c.kind.GroupVersion())
	default:
		s.list(w, r, c)
	}
}

// list answers with all objects, or with a page of them in the order of their names.
func (s *server) list(w http.ResponseWriter, r *http.Request, c call) {
	q := r.URL.Query()
	list, err := s.scheme.New(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	if err != nil {
		s.fail(w, err)
		return
	}
	s.mu.Lock()
	s.pages++
	all := s.sorted(c)
	at := strconv.FormatInt(s.clock, 10)
	s.mu.Unlock()
	if after := q.Get("continue"); after != "" {
		i, _ := slices.BinarySearchFunc(all, after, func(o client.Object, k string) int { return strings.Compare(keyOf(o), k) })
		all = all[min(i+1, len(all)):]
	}
	next := ""
	if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 0 && len(all) > n {
		all = all[:n]
		next = keyOf(all[n-1])
	}
	items := make([]runtime.Object, len(all))
	for i, o := range all {
		items[i] = o
	}
	if err := meta.SetList(list, items); err != nil {
		s.fail(w, err)
		return
	}
	if m, err := meta.ListAccessor(list); err == nil {
		m.SetResourceVersion(at)
		m.SetContinue(next)
	}
	s.answer(w, r, list, c.kind.GroupVersion())
}

func keyOf(o client.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func (s *server) sorted(c call) []client.Object {
	var all []client.Object
	for _, o := range s.table(c.resource).objects {
		if c.name.Namespace == "" || o.GetNamespace() == c.name.Namespace {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b client.Object) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return all
}

// serializerFor is how the client wants to be answered.
func (s *server) serializerFor(r *http.Request) runtime.SerializerInfo {
	want := runtime.ContentTypeJSON
	if strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		want = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), want)
	return info
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, o runtime.Object, gv schema.GroupVersion) {
	info := s.serializerFor(r)
	w.Header().Set("Content-Type", info.MediaType)
	_ = s.codecs.EncoderForVersion(info.Serializer, gv).Encode(apitest.Shallow(o), w)
}

func (s *server) fail(w http.ResponseWriter, err error) {
	status := apierrors.APIStatus(apierrors.NewInternalError(err))
	if known, ok := err.(apierrors.APIStatus); ok { //nolint:errorlint // made here, and not wrapped
		status = known
	}
	said := status.Status()
	said.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(said.Code))
	_ = json.NewEncoder(w).Encode(said)
}

// write does what a request says and returns what there is then.
func (s *server) write(r *http.Request, c call, body []byte) (runtime.Object, error) {
	switch {
	case c.sub == "eviction" || r.Method == http.MethodDelete:
		_, err := s.change(c.resource, c.name, func(o client.Object) error {
			if o.GetDeletionTimestamp() == nil {
				now := metav1.Now()
				o.SetDeletionTimestamp(&now)
			}
			return nil
		})
		return &metav1.Status{Status: metav1.StatusSuccess}, err
	case r.Method == http.MethodPatch:
		return s.change(c.resource, c.name, func(o client.Object) error { return patch(o, body) })
	}
	decoded, _, err := s.codecs.UniversalDeserializer().Decode(body, &c.kind, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o, ok := decoded.(client.Object)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is no object", decoded))
	}
	if r.Method == http.MethodPut {
		return s.change(c.resource, c.name, func(was client.Object) error {
			data, err := json.Marshal(o)
			if err == nil {
				err = json.Unmarshal(data, was)
			}
			return err
		})
	}
	o.SetNamespace(c.name.Namespace)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.table(c.resource).objects[client.ObjectKeyFromObject(o)]; there && o.GetName() != "" {
		return nil, apierrors.NewAlreadyExists(c.resource.GroupResource(), o.GetName())
	}
	s.born(o)
	if c.resource.Resource != "events" {
		s.put(c.resource, watch.Added, o)
	}
	return o, nil
}

// patch changes an object as a merge patch says. What is applied is merged too: nothing here has two owners.
func patch(o client.Object, body []byte) error {
	body, err := yaml.YAMLToJSON(body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var said metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &said); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if said.ResourceVersion != "" && said.ResourceVersion != o.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Resource: fmt.Sprintf("%T", o)}, o.GetName(), fmt.Errorf("it has changed"))
	}
	change := map[string]any{}
	if err := json.Unmarshal(body, &change); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	version := o.GetResourceVersion()
	merge(was, change)
	next, err := json.Marshal(was)
	if err != nil {
		return err
	}
	reflect.ValueOf(o).Elem().SetZero()
	err = json.Unmarshal(next, o)
	o.SetResourceVersion(version)
	return err
}

// merge changes an object as RFC 7386 says.
func merge(into, change map[string]any) {
	for k, v := range change {
		inner, nested := v.(map[string]any)
		was, there := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case nested && there:
			merge(was, inner)
		case nested:
			was = map[string]any{}
			merge(was, inner)
			into[k] = was
		default:
			into[k] = v
		}
	}
}
