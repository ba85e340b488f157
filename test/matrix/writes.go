package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// put stores an object and tells of it. The lock is held.
func (s *apiserver) put(r schema.GroupVersionResource, what watch.EventType, o client.Object) {
	s.at++
	o.SetResourceVersion(strconv.FormatInt(s.at, 10))
	t := s.table(r)
	k := client.ObjectKeyFromObject(o)
	if what == watch.Deleted {
		delete(t.objects, k)
	} else {
		t.objects[k] = o
	}
	e := watch.Event{Type: what, Object: o}
	t.events = append(t.events, e)
	for w := range s.open {
		if w.of != r {
			continue
		}
		w.todo = append(w.todo, e)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// change has an object replaced by what do makes of a copy of it. The lock is held.
func (s *apiserver) change(r schema.GroupVersionResource, k types.NamespacedName, do func(client.Object) error) (client.Object, error) {
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
	if reflect.DeepEqual(was, next) {
		return was, nil
	}
	what := watch.Modified
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && !lingers(next) {
		what = watch.Deleted
	}
	s.put(r, what, next)
	return next, nil
}

// lingers reports whether a pod that is being deleted waits for its kubelet.
func lingers(o client.Object) bool {
	p, ok := o.(*corev1.Pod)
	return ok && p.Spec.NodeName != "" && p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds > 0
}

// write does what a request says and returns what there is then. The lock is held.
func (s *apiserver) write(r *http.Request, c call, body []byte) (runtime.Object, error) {
	switch {
	case c.resource.Resource == "events":
		var e corev1.Event
		if err := json.Unmarshal(body, &e); err == nil {
			s.told[e.InvolvedObject.UID]++
		}
		return &e, nil
	case c.sub == "eviction":
		return s.evict(c, body)
	case r.Method == http.MethodDelete:
		var o metav1.DeleteOptions
		if len(body) > 0 {
			if _, _, err := s.codecs.UniversalDeserializer().Decode(body, nil, &o); err != nil {
				return nil, apierrors.NewBadRequest(err.Error())
			}
		}
		return &metav1.Status{Status: metav1.StatusSuccess}, s.remove(c, &o)
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		return s.change(c.resource, c.name, func(o client.Object) error { return s.apply(o, c, r.URL.Query().Get("fieldManager"), body) })
	case r.Method == http.MethodPatch:
		return s.change(c.resource, c.name, func(o client.Object) error { return s.patch(o, c, body) })
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
			if v := o.GetResourceVersion(); v != "" && v != was.GetResourceVersion() {
				return stale(c, was)
			}
			data, err := json.Marshal(o)
			if err != nil {
				return err
			}
			return s.take(was, c, data)
		})
	}
	o.SetNamespace(c.name.Namespace)
	return s.create(c.resource, o)
}

func stale(c call, o client.Object) error {
	return apierrors.NewConflict(c.resource.GroupResource(), o.GetName(), errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// create puts a new object there. The lock is held.
func (s *apiserver) create(r schema.GroupVersionResource, o client.Object) (client.Object, error) {
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + strconv.FormatInt(s.at, 36))
	}
	if _, there := s.table(r).objects[client.ObjectKeyFromObject(o)]; there {
		return nil, apierrors.NewAlreadyExists(r.GroupResource(), o.GetName())
	}
	o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.at)))
	o.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	o.SetGeneration(1)
	o.SetDeletionTimestamp(nil)
	s.put(r, watch.Added, o)
	return o, nil
}

// remove deletes an object, or marks it where something else has to let go of it first. The lock is held.
func (s *apiserver) remove(c call, how *metav1.DeleteOptions) error {
	_, err := s.change(c.resource, c.name, func(o client.Object) error {
		if p := how.Preconditions; p != nil && p.UID != nil && *p.UID != o.GetUID() {
			return apierrors.NewConflict(c.resource.GroupResource(), o.GetName(), fmt.Errorf("the UID in the precondition (%s) is not that of the object (%s)", *p.UID, o.GetUID()))
		}
		grace := how.GracePeriodSeconds
		if pod, ok := o.(*corev1.Pod); ok && grace == nil {
			grace = cmpPtr(pod.Spec.TerminationGracePeriodSeconds, 30)
		}
		if o.GetDeletionTimestamp() == nil || grace != nil && o.GetDeletionGracePeriodSeconds() != nil && *grace < *o.GetDeletionGracePeriodSeconds() {
			at := metav1.NewTime(time.Now().Truncate(time.Second))
			if grace != nil {
				at = metav1.NewTime(at.Add(time.Duration(*grace) * time.Second))
			}
			o.SetDeletionTimestamp(&at)
			o.SetDeletionGracePeriodSeconds(grace)
		}
		return nil
	})
	return err
}

func cmpPtr(p *int64, otherwise int64) *int64 {
	if p == nil {
		return &otherwise
	}
	return p
}

// evict deletes a pod if its budgets allow that. The lock is held.
func (s *apiserver) evict(c call, body []byte) (runtime.Object, error) {
	var e policyv1.Eviction
	if _, _, err := s.codecs.UniversalDeserializer().Decode(body, nil, &e); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	pod, ok := s.table(c.resource).objects[c.name].(*corev1.Pod)
	if !ok {
		return nil, apierrors.NewNotFound(c.resource.GroupResource(), c.name.Name)
	}
	if e.DeleteOptions == nil {
		e.DeleteOptions = &metav1.DeleteOptions{}
	}
	if pod.DeletionTimestamp == nil && pod.Spec.NodeName != "" {
		for _, o := range s.sorted(schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, pod.Namespace, labels.Everything()) {
			if budget, ok := o.(*policyv1.PodDisruptionBudget); ok && !s.allows(budget, pod) {
				err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
				err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budget.Name + " needs more healthy pods"}}
				return nil, err
			}
		}
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, s.remove(c, e.DeleteOptions)
}

// allows reports whether a budget lets a pod go. The lock is held.
func (s *apiserver) allows(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	match, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil || !match.Matches(labels.Set(pod.Labels)) || b.Spec.MinAvailable == nil {
		return true
	}
	healthy := 0
	for _, o := range s.sorted(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, pod.Namespace, match) {
		if p, ok := o.(*corev1.Pod); ok && p.DeletionTimestamp == nil && ready(p) {
			healthy++
		}
	}
	return !ready(pod) || healthy > b.Spec.MinAvailable.IntValue()
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// nomination is what the owner of a pod's nomination owns.
const nomination = `{"f:status":{"f:nominatedNodeName":{}}}`

// apply changes an object as an apply does. One thing is applied here, the
// nomination of a pod: it is noted whose it is, another's is not taken, and an
// apply without it takes it back.
func (s *apiserver) apply(o client.Object, c call, manager string, body []byte) error {
	pod, ok := o.(*corev1.Pod)
	var said corev1.Pod
	if err := json.Unmarshal(body, &said); err != nil || !ok || c.sub != "status" {
		return apierrors.NewBadRequest("nothing but the nomination of a pod is applied here")
	}
	if said.UID != "" && said.UID != pod.UID {
		return stale(c, o)
	}
	owned := slices.ContainsFunc(pod.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
	was, next := pod.Status.NominatedNodeName, said.Status.NominatedNodeName
	switch {
	case next == "" && !owned:
		return nil
	case next != "" && was != "" && was != next && !owned:
		return apierrors.NewConflict(c.resource.GroupResource(), o.GetName(), errors.New("somebody else has nominated the pod"))
	case next != "" && pod.Spec.NodeName != "":
		return apierrors.NewInvalid(c.kind.GroupKind(), o.GetName(), nil)
	}
	pod.Status.NominatedNodeName, pod.ManagedFields = next, nil
	if next != "" {
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: c.sub, APIVersion: "v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(nomination),
		}}
	}
	return nil
}

// patch changes an object as a merge patch says.
func (s *apiserver) patch(o client.Object, c call, body []byte) error {
	var said metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &said); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if said.ResourceVersion != "" && said.ResourceVersion != o.GetResourceVersion() {
		return stale(c, o)
	}
	change := map[string]any{}
	if err := json.Unmarshal(body, &change); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	merge(was, change)
	next, err := json.Marshal(was)
	if err != nil {
		return err
	}
	return s.take(o, c, next)
}

// take has an object become what data says, as far as that may be written there:
// the status is written by itself, and nothing else with it.
func (s *apiserver) take(o client.Object, c call, data []byte) error {
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	next := map[string]any{}
	if err := json.Unmarshal(data, &next); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	kept := o.DeepCopyObject()
	from, to := was, next
	if c.sub == "status" {
		from, to = next, was
	}
	if status, ok := from["status"]; ok {
		to["status"] = status
	} else {
		delete(to, "status")
	}
	text, err := json.Marshal(to)
	if err != nil {
		return err
	}
	reflect.ValueOf(o).Elem().SetZero()
	if err := json.Unmarshal(text, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	before, ok := kept.(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", kept)
	}
	o.SetUID(before.GetUID())
	o.SetResourceVersion(before.GetResourceVersion())
	o.SetCreationTimestamp(before.GetCreationTimestamp())
	o.SetDeletionTimestamp(before.GetDeletionTimestamp())
	o.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	o.SetGeneration(before.GetGeneration())
	if c.sub != "status" && !reflect.DeepEqual(was["spec"], to["spec"]) {
		o.SetGeneration(before.GetGeneration() + 1)
	}
	o.GetObjectKind().SetGroupVersionKind(before.GetObjectKind().GroupVersionKind())
	return nil
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

// all returns the objects of a kind, as they are now. They are not to be changed.
func all[T any, P interface {
	*T
	client.Object
}](s *apiserver,
) []P {
	r, err := s.resourceOf(P(new(T)))
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []P
	for _, o := range s.sorted(r, "", labels.Everything()) {
		if is, ok := o.(P); ok {
			out = append(out, is)
		}
	}
	return out
}

func (s *apiserver) resourceOf(o client.Object) (schema.GroupVersionResource, error) {
	gvks, _, err := s.scheme.ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	r, _ := meta.UnsafeGuessKindToResource(gvks[0])
	return r, nil
}

// Add puts an object there, past all faults.
func (s *apiserver) Add(o client.Object) error {
	r, err := s.resourceOf(o)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.create(r, o)
	return err
}

// edit changes an object, past all faults.
func edit[T client.Object](s *apiserver, o T, change func(T)) {
	r, err := s.resourceOf(o)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.change(r, client.ObjectKeyFromObject(o), func(o client.Object) error {
		if is, ok := o.(T); ok {
			change(is)
		}
		return nil
	})
}

// Remove deletes an object, past all faults.
func (s *apiserver) Remove(o client.Object, grace *int64) {
	r, err := s.resourceOf(o)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.remove(call{resource: r, name: client.ObjectKeyFromObject(o)}, &metav1.DeleteOptions{GracePeriodSeconds: grace})
}
