package charts_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/webhook"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// A release on a real API server: installed, used with its webhook out of reach, upgraded, uninstalled.
func TestRelease(t *testing.T) {
	c := kubetest.Client(t)
	kubeconfig := kubetest.Kubeconfig(t)
	release := func(verb string, args ...string) {
		t.Helper()
		_, errs, err := helm(t, append([]string{verb, "karpenter", "--kubeconfig", kubeconfig, "--namespace", "karpenter"}, args...)...)
		if err != nil {
			t.Fatalf("helm %s: %v\n%s", verb, err, errs)
		}
	}
	old := []string{"--set", "settings.aws.clusterName=testkarpenter,settings.aws.clusterEndpoint=https://abc,settings.aws.defaultInstanceProfile=p,settings.aws.interruptionQueueName=testkarpenter"}
	release("upgrade", append([]string{"karpenter", "--install", "--create-namespace"}, old...)...)

	t.Run("Roles", func(t *testing.T) { roles(t, c) })
	t.Run("WebhookOutOfReach", func(t *testing.T) { manifests(t, c) })
	authority := certify(t)

	key := client.ObjectKey{Namespace: "karpenter", Name: "karpenter"}
	secretKey := client.ObjectKey{Namespace: "karpenter", Name: "karpenter-cert"}
	before := get(t, c, key, &appsv1.Deployment{})
	release("upgrade", append([]string{"karpenter", "--set", "logLevel=debug"}, old...)...)
	if got := get(t, c, secretKey, &corev1.Secret{}).Data; string(got["ca-cert.pem"]) != authority {
		t.Errorf("after an upgrade the secret does not hold what the controller wrote")
	}
	var config admissionv1.MutatingWebhookConfiguration
	if got := get(t, c, client.ObjectKey{Name: webhook.Mutating}, &config).Webhooks[0].ClientConfig.CABundle; string(got) != authority {
		t.Errorf("after an upgrade the API server no longer trusts the webhook")
	}
	const sum = "checksum/settings"
	if was, is := before.Spec.Template.Annotations[sum], get(t, c, key, &appsv1.Deployment{}).Spec.Template.Annotations[sum]; was == is || is == "" {
		t.Errorf("a new level of the log makes no new pods: %s is %q before and %q after", sum, was, is)
	}

	// helm uninstall does not take its own argument twice.
	if _, errs, err := helm(t, "uninstall", "karpenter", "--kubeconfig", kubeconfig, "--namespace", "karpenter"); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var hooks admissionv1.ValidatingWebhookConfigurationList
	if err := c.List(t.Context(), &hooks); err != nil || len(hooks.Items) != 0 {
		t.Errorf("webhooks are left: %v %v", hooks.Items, err)
	}
	var crd unstructured.Unstructured
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	if err := c.Get(t.Context(), client.ObjectKey{Name: "nodepools.karpenter.sh"}, &crd); err != nil {
		t.Errorf("pools do not outlive the release: %v", err)
	}
}

func get[T client.Object](t *testing.T, c client.Client, key client.ObjectKey, into T) T {
	t.Helper()
	if err := c.Get(t.Context(), key, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// roles checks that the release's service account may do what the controllers declare, and not what a thief would want.
func roles(t *testing.T, c client.Client) {
	may := func(verb string, r loop.Resource, namespace, name string) bool {
		t.Helper()
		resource, sub, _ := strings.Cut(r.Name, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:karpenter:karpenter",
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: r.Group, Resource: resource, Subresource: sub, Namespace: namespace, Name: name,
			},
		}}
		if err := c.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}
	for _, rule := range loop.Rules(app.Specs()...) {
		for _, verb := range rule.Verbs {
			if r := loop.Of(rule.APIGroups[0], rule.Resources[0]); !may(verb, r, "", "") {
				t.Errorf("it may not %s %s of %q, which a controller declares: run make generate", verb, r.Name, r.Group)
			}
		}
	}
	lease := loop.Of("coordination.k8s.io", "leases")
	for _, verb := range []string{"get", "update"} {
		if !may(verb, lease, "karpenter", "karpenter-leader-election") {
			t.Errorf("it may not %s the lease by which replicas agree", verb)
		}
		if !may(verb, lease, "kube-system", "karpenter-cluster-leader") {
			t.Errorf("it may not %s the lease by which installations agree", verb)
		}
		if may(verb, lease, "default", "karpenter-cluster-leader") || may(verb, lease, "karpenter", "another") || may(verb, lease, "kube-system", "kube-scheduler") {
			t.Errorf("it may %s leases of others", verb)
		}
	}
	if !may("get", lease, "kube-system", "karpenter-leader-election") || may("update", lease, "kube-system", "karpenter-leader-election") {
		t.Error("it may not look, and look only, whether Karpenter acts from another namespace")
	}
	for _, no := range []struct {
		verb string
		loop.Resource
	}{
		{"get", loop.Of("", "secrets")},
		{"list", loop.Of("", "secrets")},
		{"create", loop.Of("", "pods")},
		{"create", loop.Of("", "pods/exec")},
		{"create", loop.Of("", "serviceaccounts/token")},
		{"create", loop.Of("", "nodes")},
		{"patch", loop.Of("", "configmaps")},
		{"update", loop.Of("apps", "deployments")},
		{"escalate", loop.Of("rbac.authorization.k8s.io", "clusterroles")},
		{"create", loop.Of("rbac.authorization.k8s.io", "clusterrolebindings")},
		{"delete", loop.Of("karpenter.sh", "nodepools")},
	} {
		if may(no.verb, no.Resource, "", "") {
			t.Errorf("it may %s %s", no.verb, no.Name)
		}
	}
}

// certify lets the release's service account set the webhook up, and returns the authority that it made.
func certify(t *testing.T) string {
	t.Helper()
	config := rest.CopyConfig(kubetest.Config(t))
	config.Impersonate.UserName = "system:serviceaccount:karpenter:karpenter"
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &webhook.Server{Client: c, Service: "karpenter", Namespace: "karpenter", Log: logr.Discard(), Now: clock.Wall}
	if err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hooks admissionv1.ValidatingWebhookConfiguration
	return string(get(t, c, client.ObjectKey{Name: webhook.Validating}, &hooks).Webhooks[0].ClientConfig.CABundle)
}

// manifests writes the objects of guides, old and new, while the webhook is not served.
func manifests(t *testing.T, c client.Client) {
	text, err := os.ReadFile("../api/crds/testdata/accept/documents/001-default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/guide/install-eks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, ours, _ := strings.Cut(string(guide), "```yaml\n")
	ours, _, _ = strings.Cut(ours, "```")
	text = append(text, "\n---\n"+ours...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var kinds []string
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatal(err)
		}
		if len(o.Object) == 0 {
			continue
		}
		err := c.Create(ctx, &o)
		for apierrors.IsNotFound(err) && ctx.Err() == nil { // the API server has just learned of the kind
			err = c.Create(ctx, &o)
		}
		if err != nil {
			t.Errorf("%s: %v", o.GetKind(), err)
		}
		kinds = append(kinds, o.GetKind())
	}
	if slices.Sort(kinds); fmt.Sprint(kinds) != "[AWSNodeTemplate EC2NodeClass NodePool Provisioner]" {
		t.Errorf("the guides hold %v", kinds)
	}
}
