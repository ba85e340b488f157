package picture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/yaml"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// object is a decoded document, or a note on why it was left out.
type object struct {
	from document
	kind string // apiVersion/kind
	v    any    // nil: skipped
}

// kinds are the objects that matter to a plan, by kind and API group.
func kinds() map[string]func() any {
	return map[string]func() any{
		"Pod":                             func() any { return &corev1.Pod{} },
		"Node":                            func() any { return &corev1.Node{} },
		"Namespace":                       func() any { return &corev1.Namespace{} },
		"PersistentVolume":                func() any { return &corev1.PersistentVolume{} },
		"PersistentVolumeClaim":           func() any { return &corev1.PersistentVolumeClaim{} },
		"Deployment.apps":                 func() any { return &appsv1.Deployment{} },
		"ReplicaSet.apps":                 func() any { return &appsv1.ReplicaSet{} },
		"StatefulSet.apps":                func() any { return &appsv1.StatefulSet{} },
		"DaemonSet.apps":                  func() any { return &appsv1.DaemonSet{} },
		"Job.batch":                       func() any { return &batchv1.Job{} },
		"StorageClass.storage.k8s.io":     func() any { return &storagev1.StorageClass{} },
		"CSINode.storage.k8s.io":          func() any { return &storagev1.CSINode{} },
		"PodDisruptionBudget.policy":      func() any { return &policyv1.PodDisruptionBudget{} },
		"PriorityClass.scheduling.k8s.io": func() any { return &schedulingv1.PriorityClass{} },
		"NodePool.karpenter.sh":           func() any { return &karpv1.NodePool{} },
		"NodeClaim.karpenter.sh":          func() any { return &karpv1.NodeClaim{} },
		"NodeOverlay.karpenter.sh":        func() any { return &v1alpha1.NodeOverlay{} },
		"Provisioner.karpenter.sh":        func() any { return &v1alpha5.Provisioner{} },
	}
}

// head is what tells the kind of a document.
type head struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Format     string            `json:"format"` // of a World that the controller kept
	Items      []json.RawMessage `json:"items"`
}

// replay is a World that the controller kept, to be decided about again.
type replay []byte

// decodeAll decodes documents on all processors and keeps their order.
func decodeAll(docs []document) ([]object, error) {
	known := kinds()
	parts := make([][]object, len(docs))
	errs := make([]error, len(docs))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(docs))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(docs); i += workers {
				parts[i], errs[i] = decode(docs[i], known, head{})
			}
		})
	}
	wg.Wait()
	var out []object
	for i := range docs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out = append(out, parts[i]...)
	}
	return out, nil
}

// decode turns one document into objects: several if it is a List, none if it is
// empty. What it says nothing of is as its list says.
func decode(d document, known map[string]func() any, list head) ([]object, error) {
	data := bytes.TrimSpace(d.data)
	if !bytes.HasPrefix(data, []byte("{")) {
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), err)
		}
	}
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil, nil
	case bytes.HasPrefix(data, []byte("[")):
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), err)
		}
		return decodeItems(d, items, known, list)
	}
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("%s: %w", d.where(), plainly(err))
	}
	if h.Kind == "" {
		h.APIVersion, h.Kind = list.APIVersion, list.Kind
	}
	if h.Format == journal.Format {
		var err error
		if data, err = journal.WorldOf(data); err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), err)
		}
		h.Format = world.Format
	}
	switch {
	case h.Format == world.Format:
		return []object{{from: document{file: d.file, index: d.index, line: d.line}, kind: world.Format, v: replay(data)}}, nil
	case h.Kind == "":
		return nil, fmt.Errorf("%s: kind is missing: every document needs apiVersion and kind", d.where())
	case strings.HasSuffix(h.Kind, "List") && h.Items != nil:
		return decodeItems(d, h.Items, known, head{APIVersion: h.APIVersion, Kind: strings.TrimSuffix(h.Kind, "List")})
	}
	group, _, versioned := strings.Cut(h.APIVersion, "/")
	name := h.Kind
	if versioned {
		name += "." + group
	}
	o := object{from: document{file: d.file, index: d.index, line: d.line}, kind: h.APIVersion + " " + h.Kind}
	empty, ok := known[name]
	if !ok {
		return []object{o}, nil
	}
	o.v = empty()
	if err := json.Unmarshal(data, o.v); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.where(), h.Kind, locate(data, err))
	}
	return []object{o}, nil
}

// decodeItems turns the items of a list into objects.
func decodeItems(d document, items []json.RawMessage, known map[string]func() any, of head) ([]object, error) {
	var out []object
	for i, item := range items {
		objects, err := decode(document{file: d.file, index: d.index, line: d.line, data: item}, known, of)
		if err != nil {
			return nil, fmt.Errorf("items[%d] of %w", i, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// locate adds to an error about a quantity the path of the field, which the
// decoder of quantities does not know.
func locate(data []byte, err error) error {
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return err
	}
	if path, value, ok := badQuantity(tree, "", false); ok {
		return fmt.Errorf("%s: %s is not a quantity such as 250m, 2 or 4Gi", path, value)
	}
	return plainly(err)
}

// plainly says without words of Go that something is not of the kind that belongs there.
func plainly(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "a map", reflect.Struct: "a map",
		reflect.Int: "a whole number", reflect.Int32: "a whole number", reflect.Int64: "a whole number",
	}
	is, want := wrong.Value, kinds[wrong.Type.Kind()]
	if say := map[string]string{"string": "text", "array": "a list", "object": "a map", "bool": "true or false"}[is]; say != "" {
		is = say
	}
	switch {
	case wrong.Field == "":
		return fmt.Errorf("it is %s: every document is a map with apiVersion and kind", is)
	case want == "":
		return err
	}
	return fmt.Errorf("%s is %s, where %s belongs", wrong.Field, is, want)
}

// badQuantity walks to the first value below requests, limits, capacity,
// allocatable or overhead that is not a quantity.
func badQuantity(v any, path string, amounts bool) (string, string, bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := strings.TrimPrefix(path+"."+k, ".")
			if m, isMap := v[k].(map[string]any); isMap && slices.Contains([]string{"requests", "limits", "capacity", "allocatable", "overhead"}, k) {
				if p, s, ok := badQuantity(m, here, true); ok {
					return p, s, ok
				}
				continue
			}
			if p, s, ok := badQuantity(v[k], here, amounts); ok {
				return p, s, ok
			}
		}
	case []any:
		for i, e := range v {
			if p, s, ok := badQuantity(e, fmt.Sprintf("%s[%d]", path, i), false); ok {
				return p, s, ok
			}
		}
		if amounts {
			return path, "a list", true
		}
	case string:
		if _, err := amount.Parse(v); amounts && err != nil {
			return path, strconv.Quote(v), true
		}
	case bool:
		if amounts {
			return path, strconv.FormatBool(v), true
		}
	}
	return "", "", false
}
