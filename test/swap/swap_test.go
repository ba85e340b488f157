package swap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/crds"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// latest has this release's kinds in the cluster, and no objects.
func (c cluster) latest() {
	c.t.Helper()
	c.forget()
	for _, text := range crds.All() {
		d := documents(c.t, strings.TrimPrefix(string(text), "---\n"))[0]
		for _, r := range all("v1") {
			if d.GetName() != nameOf(r) {
				continue
			}
			if _, err := c.Resource(definitions()).Create(c.t.Context(), &d, metav1.CreateOptions{}); err != nil {
				c.t.Fatal(err)
			}
			c.within(func() error {
				_, err := c.Resource(r).List(c.t.Context(), metav1.ListOptions{})
				return err
			})
		}
	}
}

// age has every object as v0.37 would have stored it: made again, of the same machines, under v1beta1 alone. They are other objects than those of v1, since
// the garbage collector remembers for long which owner it did not find under which version, and no cluster ever had the same object in v1 first.
// It returns the UIDs that claims have now.
func (c cluster) age(s *stage.Stage) map[string]types.UID {
	c.t.Helper()
	for _, r := range all("v1beta1") {
		c.define(c.definition(nameOf(r)), versions(false, "v1", "v1beta1"), "v1beta1")
	}
	owned(c.t, s, nil)
	uids := map[string]types.UID{} // of pools and claims
	for _, r := range all("v1beta1") {
		for _, o := range c.replaced(r) {
			aged(&o, uids)
			made, err := c.Resource(r).Create(c.t.Context(), &o, metav1.CreateOptions{})
			if err != nil {
				c.t.Fatal(err)
			}
			uids[o.GetKind()+"/"+o.GetName()] = made.GetUID()
		}
	}
	owned(c.t, s, uids)
	for _, d := range betaKinds(c.t) {
		next := c.definition(d.GetName())
		if err := unstructured.SetNestedStringSlice(next.Object, []string{"v1beta1"}, "status", "storedVersions"); err != nil {
			c.t.Fatal(err)
		}
		next, err := c.Resource(definitions()).UpdateStatus(c.t.Context(), next, metav1.UpdateOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		old, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		c.define(next, old, "v1beta1")
	}
	return uids
}

func (c cluster) definition(name string) *unstructured.Unstructured {
	c.t.Helper()
	out, err := c.Resource(definitions()).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// replaced deletes the objects of a kind and returns them as they can be made again.
func (c cluster) replaced(r schema.GroupVersionResource) (out []unstructured.Unstructured) {
	c.t.Helper()
	for name, o := range c.list(r) {
		free := o.DeepCopy()
		free.SetFinalizers(nil)
		if _, err := c.Resource(r).Update(c.t.Context(), free, metav1.UpdateOptions{}); err != nil {
			c.t.Fatal(err)
		}
		if err := c.Resource(r).Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			c.t.Fatal(err)
		}
		for _, field := range []string{"resourceVersion", "uid", "managedFields", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
		out = append(out, o)
	}
	c.within(func() error {
		if left := len(c.list(r)); left > 0 {
			return fmt.Errorf("%d %s are left", left, r.Resource)
		}
		return nil
	})
	return out
}

// owned has nodes name their claims as owners as v0.37 did, or none where there are no UIDs yet. Of the first, Karpenter was about to move the pods when it was stopped.
func owned(t *testing.T, s *stage.Stage, uids map[string]types.UID) {
	t.Helper()
	nodes, err := s.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	claims, err := s.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		n := nodes[i].DeepCopy()
		n.OwnerReferences = nil
		for k := range claims {
			if uid := uids["NodeClaim/"+claims[k].Name]; uid != "" && claims[k].Status.ProviderID == n.Spec.ProviderID {
				n.OwnerReferences = []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1beta1", Kind: "NodeClaim", Name: claims[k].Name, UID: uid, BlockOwnerDeletion: new(true)}}
			}
		}
		if i == 0 && uids != nil {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule})
		}
		if err := s.Client.Patch(t.Context(), n, client.MergeFrom(&nodes[i])); err != nil {
			t.Fatal(err)
		}
	}
}

// aged writes one object as Karpenter wrote it in v1beta1: without what only this controller notes. Settings of the kubelet were those of pools and claims.
func aged(o *unstructured.Unstructured, uids map[string]types.UID) {
	notes := map[string]string{}
	for k := range o.GetAnnotations() {
		if strings.HasSuffix(k, "-hash") {
			notes[k], notes[k+"-version"] = "1234", "v2"
		}
	}
	o.SetAnnotations(notes)
	pool := o.GetLabels()[v1.LabelNodePool]
	owners := o.GetOwnerReferences()
	for i := range owners {
		owners[i].APIVersion = "karpenter.sh/v1beta1"
		owners[i].UID = uids[owners[i].Kind+"/"+owners[i].Name]
	}
	o.SetOwnerReferences(owners)
	spec, _ := o.Object["spec"].(map[string]any)
	if o.GetKind() == "EC2NodeClass" {
		delete(spec, "amiSelectorTerms")
		spec["amiFamily"] = "AL2023"
		return
	}
	if template, ok := spec["template"].(map[string]any); ok {
		pool = o.GetName()
		disruption, _ := spec["disruption"].(map[string]any)
		spec, _ = template["spec"].(map[string]any)
		disruption["expireAfter"] = spec["expireAfter"]
	}
	delete(spec, "expireAfter")
	ref, _ := spec["nodeClassRef"].(map[string]any)
	spec["nodeClassRef"] = map[string]any{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": ref["name"]}
	if pool == "dense" {
		spec["kubelet"] = map[string]any{"maxPods": int64(40)}
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		delete(fields, "observedGeneration")
		fields["severity"] = "Info"
	}
	if len(conditions) > 0 {
		_ = unstructured.SetNestedSlice(o.Object, conditions, "status", "conditions")
	}
}

// Nodes that a cluster of v1beta1 has go on as they are under a controller of v1: after the conversion each belongs to its claim, none has drifted, and
// none is bought or ended.
func TestSwap(t *testing.T) {
	long(t)
	c := reach(t)
	c.latest()
	s := stage.Set(t, stage.Options{Name: "swap"})
	ns := kubetest.Namespace(t)
	class, plain, dense := s.Class(), stage.Pool("plain"), stage.Pool("dense") // whose kubelets will have had other settings
	inPlain, inDense := of(plain, stage.Apart(ns, "plain", 1)), of(dense, stage.Apart(ns, "dense", 1))
	first := s.Inside(t, 0, kubetest.Config(t))
	s.Make(t, class, plain, dense, inPlain, inDense)
	s.Runs(t, soon, ns, 2)
	var before map[string]*v1.NodeClaim
	kubetest.Within(t, soon, func() (err error) {
		before, err = ready(s)
		return err
	})
	first.Stop()
	nodes, err := s.Nodes()
	if err != nil {
		t.Fatal(err)
	}

	for name, uid := range c.age(s) {
		if claim := before[strings.TrimPrefix(name, "NodeClaim/")]; claim != nil {
			claim.UID = uid
		}
	}
	t.Log(succeed(t, "--backup", backup(t)))

	ended := s.Calls("TerminateInstances")
	next := s.Inside(t, 10*time.Minute, kubetest.Config(t))
	kubetest.Within(t, soon, func() error { return same(t, s, before, nodes) })
	next.Stop()
	// Later, and with more to do: what is bought by the class that was converted joins beside them.
	next = s.Inside(t, 30*time.Minute, kubetest.Config(t))
	more := of(dense, stage.Apart(ns, "more", 2))
	s.Make(t, more)
	s.Runs(t, soon, ns, 4)
	kubetest.Within(t, soon, func() error { return same(t, s, before, nodes) })
	next.Stop()
	if e := s.Calls("TerminateInstances") - ended; e > 0 {
		t.Errorf("%d calls of TerminateInstances", e)
	}

	// From now on they are nodes like all others. Their claims are deleted here: Kubernetes' garbage collector, which would do it for pools that
	// are gone, learns only after some minutes which versions there are when kinds come and go as in these tests.
	s.Inside(t, 30*time.Minute, kubetest.Config(t))
	s.Drop(t, inPlain, inDense, more, plain, dense)
	claims, err := s.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		if err := client.IgnoreNotFound(s.Client.Delete(t.Context(), &claims[i])); err != nil {
			t.Fatal(err)
		}
	}
	kubetest.Within(t, 2*soon, s.Left)
	s.Drop(t, class)
}

// of has the pods of a workload run on nodes of a pool.
func of(p *v1.NodePool, d *appsv1.Deployment) *appsv1.Deployment {
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: p.Name}
	return d
}

// ready are the claims, once there are two or more and all are Ready.
func ready(s *stage.Stage) (map[string]*v1.NodeClaim, error) {
	list, err := s.Claims()
	out := map[string]*v1.NodeClaim{}
	for i := range list {
		out[list[i].Name] = &list[i]
		if !list[i].Conditions().Is("Ready") || !list[i].Conditions().Is(v1.ConditionInitialized) {
			err = fmt.Errorf("claim %s says %v", list[i].Name, list[i].Status.Conditions)
		}
	}
	if len(list) < 2 {
		err = errors.Join(err, fmt.Errorf("%d claims, want 2", len(list)))
	}
	return out, err
}

// same says what is missing until the controller has looked at every claim, and fails the test when it has touched one.
func same(t *testing.T, s *stage.Stage, before map[string]*v1.NodeClaim, nodes []corev1.Node) error {
	t.Helper()
	after, err := ready(s)
	if err != nil {
		return err
	}
	for name, was := range before {
		c := after[name]
		if c == nil || c.UID != was.UID || c.DeletionTimestamp != nil || c.Status.ProviderID != was.Status.ProviderID {
			t.Fatalf("claim %s is another: %+v", name, c)
		}
		if want := map[string]string{"plain": "default", "dense": "default-dense"}[c.Pool()]; c.Spec.NodeClassRef.Name != want {
			t.Fatalf("claim %s is of class %s, want %s", name, c.Spec.NodeClassRef.Name, want)
		}
		if c.Conditions().Is(v1.ConditionDrifted) {
			t.Fatalf("claim %s has drifted: %v", name, c.Conditions().Get(v1.ConditionDrifted))
		}
		if c.Annotations[v1.AnnotationPoolHashVersion] != v1.HashVersion || c.Annotations[awsv1.AnnotationHashVersion] != awsv1.HashVersion {
			return fmt.Errorf("claim %s has not been looked at: its annotations are %v", name, c.Annotations)
		}
		if c.Annotations[v1.AnnotationPoolHash] == "1234" || c.Annotations[awsv1.AnnotationHash] == "1234" {
			return fmt.Errorf("claim %s has old hashes: its annotations are %v", name, c.Annotations)
		}
	}
	for _, was := range nodes {
		var n corev1.Node
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(&was), &n); err != nil {
			return err
		}
		if n.UID != was.UID || n.DeletionTimestamp != nil || len(n.Spec.Taints) > 0 {
			t.Fatalf("node %s was touched: %+v", n.Name, n)
		}
		if !slices.ContainsFunc(n.OwnerReferences, func(o metav1.OwnerReference) bool {
			return o.APIVersion == "karpenter.sh/v1" && before[o.Name] != nil && o.UID == before[o.Name].UID
		}) {
			t.Fatalf("the owners of node %s are %v", n.Name, n.OwnerReferences)
		}
	}
	return nil
}
