package apitest

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Law is what reconcilers rely on. The store obeys it, and so does the API
// server: one suite runs against both. c may hold other objects; ns is a
// namespace for pods.
func Law(t *testing.T, c client.Client, ns string) {
	t.Helper()
	for name, law := range map[string]func(*testing.T, client.Client) error{
		"Birth": birth, "Twice": twice, "Conflict": conflict, "Status": status, "NoWrite": noWrite, "Finalizer": finalizer, "OtherUID": otherUID, "Gone": gone,
		"Eviction": func(t *testing.T, c client.Client) error { return eviction(t, c, ns) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := law(t, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// claim creates a claim that is gone after the test.
func claim(t *testing.T, c client.Client, name string) (*v1.NodeClaim, error) {
	t.Helper()
	o := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "law-" + name, Finalizers: []string{v1.Finalizer}},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: "sim.tenon.sh", Kind: "Class", Name: "default"},
			Requirements: []v1.Requirement{{Key: v1.LabelArch, Operator: corev1.NodeSelectorOpExists}},
		},
	}
	return o, c.Create(t.Context(), o)
}

func fresh(t *testing.T, c client.Client, o *v1.NodeClaim) (*v1.NodeClaim, error) {
	t.Helper()
	now := &v1.NodeClaim{}
	return now, c.Get(t.Context(), client.ObjectKeyFromObject(o), now)
}

// What is created has an identity, a time, a version and its first generation.
func birth(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "birth")
	if err == nil && (o.UID == "" || o.CreationTimestamp.IsZero() || o.ResourceVersion == "" || o.Generation != 1) {
		err = fmt.Errorf("created %+v", o.ObjectMeta)
	}
	return err
}

// A name is taken once.
func twice(t *testing.T, c client.Client) error {
	_, err := claim(t, c, "twice")
	if _, again := claim(t, c, "twice"); err == nil && !apierrors.IsAlreadyExists(again) {
		err = fmt.Errorf("the second creation: %w", again)
	}
	return err
}

// A write that names a version fails when that is no longer the newest, and versions grow.
func conflict(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "conflict")
	if err != nil {
		return err
	}
	label := func(value string) func(*v1.NodeClaim) {
		return func(o *v1.NodeClaim) { o.Labels = map[string]string{"law": value} }
	}
	next, err := loop.Patch(t.Context(), c, o, label("first"))
	if err != nil {
		return err
	}
	if len(next.ResourceVersion) < len(o.ResourceVersion) || len(next.ResourceVersion) == len(o.ResourceVersion) && next.ResourceVersion <= o.ResourceVersion {
		return fmt.Errorf("version %s follows %s", next.ResourceVersion, o.ResourceVersion)
	}
	if _, err := loop.Patch(t.Context(), c, o, label("second")); !apierrors.IsConflict(err) {
		return fmt.Errorf("a write to an old version: %w", err)
	}
	_, err = loop.Merge(t.Context(), c, o, label("third"))
	return err
}

// The status is written by itself, and nothing else with it.
func status(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "status")
	if err != nil {
		return err
	}
	change := func(o *v1.NodeClaim) { o.Status.NodeName, o.Labels = "n", map[string]string{"law": "x"} }
	o, err = loop.PatchStatus(t.Context(), c, o, change)
	if err != nil {
		return err
	}
	now, err := fresh(t, c, o)
	if err != nil || now.Status.NodeName != "n" || len(now.Labels) != 0 {
		return errors.Join(err, fmt.Errorf("after a write of the status: node %q, labels %v", now.Status.NodeName, now.Labels))
	}
	if _, err = loop.Patch(t.Context(), c, now, func(o *v1.NodeClaim) { o.Status.NodeName, o.Labels = "m", map[string]string{"law": "y"} }); err != nil {
		return err
	}
	now, err = fresh(t, c, o)
	if err != nil || now.Status.NodeName != "n" || now.Labels["law"] != "y" {
		return errors.Join(err, fmt.Errorf("after a write of the object: node %q, labels %v", now.Status.NodeName, now.Labels))
	}
	return nil
}

// What changes nothing makes no new version.
func noWrite(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "no-write")
	if err != nil {
		return err
	}
	next, err := loop.Patch(t.Context(), c, o, func(*v1.NodeClaim) {})
	if err == nil && next.ResourceVersion != o.ResourceVersion {
		err = fmt.Errorf("version %s after %s", next.ResourceVersion, o.ResourceVersion)
	}
	return err
}

// An object with a finalizer stays, and says since when it is leaving, until that is taken away.
func finalizer(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "finalizer")
	if err != nil {
		return err
	}
	if err := c.Delete(t.Context(), o); err != nil {
		return err
	}
	now, err := fresh(t, c, o)
	if err != nil || now.DeletionTimestamp == nil {
		return errors.Join(err, fmt.Errorf("deleted at %v", now.DeletionTimestamp))
	}
	if _, err := loop.Patch(t.Context(), c, now, func(o *v1.NodeClaim) { o.Finalizers = nil }); err != nil {
		return err
	}
	if _, err := fresh(t, c, o); !apierrors.IsNotFound(err) {
		return fmt.Errorf("without its finalizer: %w", err)
	}
	return nil
}

// Deleting one object does not delete another of its name.
func otherUID(t *testing.T, c client.Client) error {
	o, err := claim(t, c, "other-uid")
	if err != nil {
		return err
	}
	other := types.UID("11111111-0000-4000-8000-000000000000")
	if err := c.Delete(t.Context(), o, client.Preconditions{UID: &other}); !apierrors.IsConflict(err) {
		return fmt.Errorf("deleted by another's identity: %w", err)
	}
	return nil
}

// What is not there cannot be changed.
func gone(t *testing.T, c client.Client) error {
	o := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "law-absent"}}
	_, patched := loop.Merge(t.Context(), c, o, func(o *v1.NodeClaim) { o.Labels = map[string]string{"law": "x"} })
	for _, err := range []error{patched, c.Delete(t.Context(), o), c.Get(t.Context(), client.ObjectKeyFromObject(o), o)} {
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("of an object that is not there: %w", err)
		}
	}
	return nil
}

// An eviction means one pod, not another of its name.
func eviction(t *testing.T, c client.Client, ns string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "law"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if err := c.Create(t.Context(), pod); err != nil {
		return err
	}
	evict := func(uid types.UID) error {
		return c.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: ns, Name: pod.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
		})
	}
	if err := evict("11111111-0000-4000-8000-000000000000"); !apierrors.IsConflict(err) {
		return fmt.Errorf("evicted by another's identity: %w", err)
	}
	uid := pod.UID
	if err := evict(uid); err != nil {
		return err
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
		return fmt.Errorf("evicted before it ran: %w", err)
	}
	return nil
}
