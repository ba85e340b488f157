package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tenon-sh/tenon/internal/clock"
)

// leaseName is the Lease of whichever controller acts.
const leaseName = "karpenter-leader-election"

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// core is a resource of Kubernetes itself.
func core(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: plural}
}

// right is something that the conversion must be allowed.
type right struct{ verb, group, resource, name string }

func (r right) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group), ".")
}

// rights are all that it must be allowed.
func rights() []right {
	const definitions, hooks = "apiextensions.k8s.io", "admissionregistration.k8s.io"
	out := []right{
		{"get", "", "namespaces", metav1.NamespaceSystem},
		{"list", "", "nodes", ""},
		{"get", "", "nodes", ""},
		{"patch", "", "nodes", ""},
		{"list", "apps", "deployments", ""},
		{"get", "coordination.k8s.io", "leases", leaseName},
		{"list", hooks, "validatingwebhookconfigurations", ""},
		{"list", hooks, "mutatingwebhookconfigurations", ""},
		{"get", definitions, "customresourcedefinitions", ""},
		{"update", definitions, "customresourcedefinitions", ""},
		{"update", definitions, "customresourcedefinitions/status", ""},
	}
	for _, k := range kinds() {
		for _, verb := range []string{"list", "create", "update"} {
			out = append(out, right{verb, k.group, k.plural, ""})
		}
	}
	return out
}

// allowed names every right that is missing, of those of the conversion and of more.
func allowed(ctx context.Context, c dynamic.Interface, more ...right) error {
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	var missing []string
	for _, r := range append(rights(), more...) {
		resource, part, _ := strings.Cut(r.resource, "/")
		review := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{"resourceAttributes": map[string]any{"verb": r.verb, "group": r.group, "resource": resource, "subresource": part, "name": r.name}},
		}}
		answer, err := c.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask what the kubeconfig's user may do: %w", err)
		}
		if ok, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed"); !ok {
			missing = append(missing, r.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the kubeconfig's user may not %s: take an administrator's, or grant these (docs/guide/migrate.md has the ClusterRole)", strings.Join(missing, ", "))
	}
	return nil
}

// quiet refuses while a controller acts, with what to do about each thing that is in the way.
func quiet(ctx context.Context, c dynamic.Interface, now clock.Now) error {
	var all []error
	list, err := c.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter"})
	if err != nil {
		return fmt.Errorf("find the controller's Deployment: %w", err)
	}
	namespaces := []string{metav1.NamespaceSystem, "karpenter"}
	for i := range list.Items {
		d := &list.Items[i]
		if !slices.Contains(namespaces, d.GetNamespace()) {
			namespaces = append(namespaces, d.GetNamespace())
		}
		wanted, ok, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
		left, _, _ := unstructured.NestedInt64(d.Object, "status", "replicas")
		switch {
		case !ok || wanted > 0:
			all = append(all, fmt.Errorf("the controller runs: kubectl scale deployment %s -n %s --replicas=0", d.GetName(), d.GetNamespace()))
		case left > 0:
			all = append(all, fmt.Errorf("%d pods of the controller are still ending: kubectl wait pod -n %s -l app.kubernetes.io/name=karpenter --for=delete", left, d.GetNamespace()))
		}
	}
	leases := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	for _, ns := range namespaces {
		lease, err := c.Resource(leases).Namespace(ns).Get(ctx, leaseName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("see whether a controller acts: %w", err)
		}
		if holder, left := held(lease, now()); holder != "" && len(all) == 0 {
			all = append(all, fmt.Errorf("%s holds the Lease %s in %s: if nothing renews it, it ends in %s", holder, leaseName, ns, left.Round(time.Second)))
		}
	}
	return errors.Join(all...)
}

// held is a Lease's holder, and for how long it holds it.
func held(lease *unstructured.Unstructured, now time.Time) (string, time.Duration) {
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339, text)
	left := renewed.Add(time.Duration(seconds) * time.Second).Sub(now)
	if err != nil || left <= 0 {
		return "", 0
	}
	return holder, left
}

// unguarded refuses while webhooks of the controller that is gone would refuse every write.
func unguarded(ctx context.Context, c dynamic.Interface) error {
	var all []error
	for _, plural := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		list, err := c.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: plural}).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("find the controller's webhooks: %w", err)
		}
		for i := range list.Items {
			name := list.Items[i].GetName()
			ours := strings.HasSuffix(name, ".karpenter.sh") || strings.HasSuffix(name, ".karpenter.k8s.aws")
			if hooks, _, _ := unstructured.NestedSlice(list.Items[i].Object, "webhooks"); ours && slices.ContainsFunc(hooks, insists) {
				all = append(all, fmt.Errorf("its webhook, which has gone with the controller, would refuse every write: kubectl delete %s %s", plural, name))
			}
		}
	}
	return errors.Join(all...)
}

// insists reports whether a webhook must answer before one of the kinds is written.
func insists(hook any) bool {
	fields, _ := hook.(map[string]any)
	rules, _ := fields["rules"].([]any)
	return fields["failurePolicy"] != "Ignore" && slices.ContainsFunc(rules, func(r any) bool {
		rule, _ := r.(map[string]any)
		groups, _ := rule["apiGroups"].([]any)
		return slices.ContainsFunc(groups, func(g any) bool { return g == "*" || g == classKind().group || g == poolKind().group })
	})
}
