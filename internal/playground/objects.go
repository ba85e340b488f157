package playground

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/tenon-sh/tenon/api/crds"
)

//go:embed objects
var objects embed.FS

// owner is the field manager of what the playground applies.
const owner = "tenon-playground"

// manifest is a file of objects, for a cluster of that name.
func manifest(name, cluster string) ([]byte, error) {
	text, err := objects.ReadFile("objects/" + name)
	if err != nil {
		return nil, err
	}
	return []byte(strings.ReplaceAll(string(text), "CLUSTER", cluster)), nil
}

// documents are the objects of a YAML text.
func documents(text []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var o unstructured.Unstructured
		switch err := d.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case len(o.Object) > 0:
			out = append(out, &o)
		}
	}
}

func crdKind() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// teach makes the cluster know the kinds of the API, as the chart in a directory has them, or as they are built in.
func teach(ctx context.Context, c dynamic.Interface, chart string) error {
	kinds, err := kindsOf(chart)
	if err != nil {
		return err
	}
	var names []string
	for _, text := range kinds {
		all, err := documents(text)
		if err != nil {
			return fmt.Errorf("read the CRDs: %w", err)
		}
		for _, o := range all {
			if _, err := c.Resource(crdKind()).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: owner, Force: true}); err != nil {
				return fmt.Errorf("install CRD %s: %w", o.GetName(), err)
			}
			names = append(names, o.GetName())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, name := range names {
		if err := established(ctx, c, name); err != nil {
			return fmt.Errorf("wait for CRD %s: %w", name, err)
		}
	}
	return nil
}

// kindsOf are the CRDs of the chart in a directory, or those that are built in.
func kindsOf(chart string) ([][]byte, error) {
	if chart == "" {
		return crds.All(), nil
	}
	files, err := filepath.Glob(filepath.Join(chart, "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		return crds.All(), err
	}
	var out [][]byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// established returns when a kind is served, whatever makes it.
func established(ctx context.Context, c dynamic.Interface, name string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		o, err := c.Resource(crdKind()).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o = &unstructured.Unstructured{}
		} else if err != nil {
			return err
		}
		// Until the API server has looked at a kind, its conditions are null.
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, condition := range conditions {
			if m, ok := condition.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// equip gives a cluster without any pool the default one.
func equip(ctx context.Context, c dynamic.Interface, cluster string) error {
	for _, kind := range []schema.GroupVersionResource{
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
		{Group: "karpenter.sh", Version: "v1alpha5", Resource: "provisioners"},
	} {
		l, err := c.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return fmt.Errorf("look for pools: %w", err)
		}
		if len(l.Items) > 0 {
			return nil // what there is, is the user's
		}
	}
	text, err := manifest("default.yaml", cluster)
	if err != nil {
		return err
	}
	all, err := documents(text)
	if err != nil {
		return err
	}
	for _, o := range all {
		kind, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if _, err := c.Resource(kind).Create(ctx, o, metav1.CreateOptions{FieldManager: owner}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
