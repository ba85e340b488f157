package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/api/crds"
	"github.com/tenon-sh/tenon/internal/cli/convert"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

const soon = 20 * time.Second

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

// long skips what takes long and says little more than what gates a change does, unless TENON_TEST_SWAP is all.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("TENON_TEST_SWAP") != "all" {
		t.Skip("set TENON_TEST_SWAP=all for every way in which a cluster is converted")
	}
}

// cluster is the API server, for a client that knows nothing of its kinds.
type cluster struct {
	dynamic.Interface

	t *testing.T
}

func reach(t *testing.T) cluster {
	t.Helper()
	c, err := dynamic.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return cluster{c, t}
}

func classes(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.k8s.aws", Version: version, Resource: "ec2nodeclasses"}
}

func pools(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: version, Resource: "nodepools"}
}

func claims(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: version, Resource: "nodeclaims"}
}

func all(version string) []schema.GroupVersionResource {
	return []schema.GroupVersionResource{classes(version), pools(version), claims(version)}
}

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

func nameOf(r schema.GroupVersionResource) string { return r.Resource + "." + r.Group }

// documents are objects written as YAML.
func documents(t *testing.T, text string) []unstructured.Unstructured {
	t.Helper()
	var out []unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON(data); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		out = append(out, o)
	}
	return out
}

// betaKinds are the definitions of v0.32 to v0.37.
func betaKinds(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/v1beta1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, string(text))
}

// latestVersion is this release's v1 of a kind.
func latestVersion(t *testing.T, name string) any {
	t.Helper()
	for _, text := range crds.All() {
		if d := documents(t, strings.TrimPrefix(string(text), "---\n"))[0]; d.GetName() == name {
			versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
			return versions[0]
		}
	}
	t.Fatal("no kind ", name)
	return nil
}

// within waits until a check returns nil.
func (c cluster) within(check func() error) {
	c.t.Helper()
	kubetest.Within(c.t, soon, check)
}

// forget deletes the kinds and all objects of theirs.
func (c cluster) forget() {
	c.t.Helper()
	for _, r := range all("v1") {
		crd, err := c.Resource(definitions()).Get(c.t.Context(), nameOf(r), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			c.t.Fatal(err)
		}
		anything := versions(true, "v1", "v1beta1")
		c.define(crd, anything, "v1")
		c.within(func() error {
			list, err := c.Resource(r).List(c.t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				list, err = &unstructured.UnstructuredList{}, nil // the kind has gone
			}
			if err != nil {
				return err
			}
			for i := range list.Items {
				list.Items[i].SetFinalizers(nil)
				if _, err := c.Resource(r).Update(c.t.Context(), &list.Items[i], metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
					return err
				}
			}
			err = c.Resource(definitions()).Delete(c.t.Context(), nameOf(r), metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, fmt.Errorf("%s is there", nameOf(r)))
		})
	}
}

// versions are versions of a kind that take anything, the first or the last of them stored.
func versions(first bool, names ...string) []any {
	var out []any
	for i, name := range names {
		storage := i == 0 && first || i == len(names)-1 && !first
		out = append(out, map[string]any{
			"name": name, "served": true, "storage": storage,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		})
	}
	return out
}

// define gives a kind other versions, and waits until the first can be listed.
func (c cluster) define(crd *unstructured.Unstructured, versions []any, served string) {
	c.t.Helper()
	next := crd.DeepCopy()
	if err := unstructured.SetNestedMap(next.Object, map[string]any{"strategy": "None"}, "spec", "conversion"); err != nil {
		c.t.Fatal(err)
	}
	if err := unstructured.SetNestedSlice(next.Object, versions, "spec", "versions"); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Resource(definitions()).Update(c.t.Context(), next, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	c.within(func() error {
		_, err := c.Resource(schema.GroupVersionResource{Group: group, Version: served, Resource: plural}).List(c.t.Context(), metav1.ListOptions{})
		return err
	})
}

// early has the kinds of v0.32 in the cluster, and these objects of theirs.
func (c cluster) early(objects string) {
	c.t.Helper()
	c.forget()
	for _, d := range betaKinds(c.t) {
		if _, err := c.Resource(definitions()).Create(c.t.Context(), &d, metav1.CreateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.make("v1beta1", objects)
}

// make creates objects with their status.
func (c cluster) make(version, objects string) {
	c.t.Helper()
	for _, o := range documents(c.t, objects) {
		to := c.Resource(resourceOf(o, version))
		var made *unstructured.Unstructured
		c.within(func() (err error) {
			made, err = to.Create(c.t.Context(), &o, metav1.CreateOptions{})
			return err
		})
		if o.Object["status"] == nil {
			continue
		}
		made.Object["status"] = o.Object["status"]
		if _, err := to.UpdateStatus(c.t.Context(), made, metav1.UpdateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
}

func resourceOf(o unstructured.Unstructured, version string) schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{"EC2NodeClass": classes(version), "NodePool": pools(version), "NodeClaim": claims(version)}[o.GetKind()]
}

// late makes of the kinds what the last releases before v1.1 had: both versions, and a webhook that converts, which has gone with its controller.
func (c cluster) late(storage string) {
	c.t.Helper()
	for _, d := range betaKinds(c.t) {
		crd, err := c.Resource(definitions()).Get(c.t.Context(), d.GetName(), metav1.GetOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		old, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		both := []any{latestVersion(c.t, d.GetName()), old[0]}
		for _, v := range both {
			fields, _ := v.(map[string]any)
			fields["storage"] = fields["name"] == storage
		}
		c.define(crd, both, "v1")
	}
}

// webhook has another version than the stored one asked of something that is not there.
func (c cluster) webhook() {
	c.t.Helper()
	for _, r := range all("v1") {
		crd, err := c.Resource(definitions()).Get(c.t.Context(), nameOf(r), metav1.GetOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		hook := map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1beta1", "v1"},
			"clientConfig":             map[string]any{"url": "https://127.0.0.1:1/conversion"}, // nothing listens
		}}
		if err := unstructured.SetNestedMap(crd.Object, hook, "spec", "conversion"); err != nil {
			c.t.Fatal(err)
		}
		if _, err := c.Resource(definitions()).Update(c.t.Context(), crd, metav1.UpdateOptions{}); err != nil {
			c.t.Fatal(err)
		}
		c.within(func() error {
			ctx, cancel := context.WithTimeout(c.t.Context(), time.Second) // a conversion that fails is tried for long
			defer cancel()
			_, beta := c.Resource(schema.GroupVersionResource{Group: r.Group, Version: "v1beta1", Resource: r.Resource}).List(ctx, metav1.ListOptions{})
			_, one := c.Resource(r).List(ctx, metav1.ListOptions{})
			if beta == nil && one == nil {
				return errors.New("it still converts by itself")
			}
			return nil
		})
	}
}

// list is what a kind has, by name.
func (c cluster) list(r schema.GroupVersionResource) map[string]unstructured.Unstructured {
	c.t.Helper()
	out := map[string]unstructured.Unstructured{}
	list, err := c.Resource(r).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, o := range list.Items {
		out[o.GetName()] = o
	}
	return out
}

// converted fails the test unless every kind is this release's, and stores nothing but v1.
func (c cluster) converted() {
	c.t.Helper()
	for _, r := range all("v1") {
		crd, err := c.Resource(definitions()).Get(c.t.Context(), nameOf(r), metav1.GetOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if !slices.Equal(stored, []string{"v1"}) || len(versions) != 1 {
			c.t.Errorf("%s stores %v and has %d versions", nameOf(r), stored, len(versions))
		}
	}
}

// run is the verb as a user calls it.
func run(t *testing.T, kubeconfig string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := verb.Run(t.Context(), convert.Command(), append([]string{"--cluster", "--settle", "0", "--kubeconfig", kubeconfig}, args...), verb.Streams{Out: &out, Err: &out})
	return status, out.String()
}

// succeed is run for what must succeed.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	status, said := run(t, kubetest.Kubeconfig(t), args...)
	if status != verb.OK {
		t.Fatalf("status %d\n%s", status, said)
	}
	return said
}

// backup is where a test keeps what was there.
func backup(t *testing.T) string { return filepath.Join(t.TempDir(), "backup.yaml") }
