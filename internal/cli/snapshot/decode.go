package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/api/quantity"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// object is a decoded document, or a note on why it was left out.
type object struct {
	from     document
	kind     string   // apiVersion/kind
	v        any      // nil: skipped
	as       string   // apiVersion that it is read as, if that is another one
	unknown  []string // fields that the kind does not have
	settings []string // fields of a node class by which machines would be otherwise
}

// kinds are the objects that matter to a plan, by kind and API group.
func kinds() map[string]func() any {
	return map[string]func() any{
		"Pod":                             func() any { return &corev1.Pod{} },
		"Node":                            func() any { return &corev1.Node{} },
		"Namespace":                       func() any { return &corev1.Namespace{} },
		"LimitRange":                      func() any { return &corev1.LimitRange{} },
		"PersistentVolume":                func() any { return &corev1.PersistentVolume{} },
		"PersistentVolumeClaim":           func() any { return &corev1.PersistentVolumeClaim{} },
		"Deployment.apps":                 func() any { return &appsv1.Deployment{} },
		"ReplicaSet.apps":                 func() any { return &appsv1.ReplicaSet{} },
		"StatefulSet.apps":                func() any { return &appsv1.StatefulSet{} },
		"DaemonSet.apps":                  func() any { return &appsv1.DaemonSet{} },
		"Job.batch":                       func() any { return &batchv1.Job{} },
		"ReplicationController":           func() any { return &corev1.ReplicationController{} },
		"StorageClass.storage.k8s.io":     func() any { return &storagev1.StorageClass{} },
		"CSINode.storage.k8s.io":          func() any { return &storagev1.CSINode{} },
		"CSIDriver.storage.k8s.io":        func() any { return &storagev1.CSIDriver{} },
		"PodDisruptionBudget.policy":      func() any { return &policyv1.PodDisruptionBudget{} },
		"PriorityClass.scheduling.k8s.io": func() any { return &schedulingv1.PriorityClass{} },
		"RuntimeClass.node.k8s.io":        func() any { return &nodev1.RuntimeClass{} },
		"NodePool.karpenter.sh":           func() any { return &karpv1.NodePool{} },
		"NodeClaim.karpenter.sh":          func() any { return &karpv1.NodeClaim{} },
		"NodeOverlay.karpenter.sh":        func() any { return &v1alpha1.NodeOverlay{} },
		"Provisioner.karpenter.sh":        func() any { return &v1alpha5.Provisioner{} },

		"ResourceClaim.resource.k8s.io":         func() any { return &resourcev1.ResourceClaim{} },
		"ResourceClaimTemplate.resource.k8s.io": func() any { return &resourcev1.ResourceClaimTemplate{} },
		"DeviceClass.resource.k8s.io":           func() any { return &resourcev1.DeviceClass{} },
		"ResourceSlice.resource.k8s.io":         func() any { return &resourcev1.ResourceSlice{} },
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
	data, err := asJSON(bytes.TrimSpace(d.data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.where(), unreadable(d, err))
	}
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil, nil
	case bytes.HasPrefix(data, []byte("[")):
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), unreadable(d, err))
		}
		return decodeItems(d, items, known, list)
	}
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("%s: %w", d.where(), unreadable(d, err))
	}
	if h.Kind == "" {
		h.APIVersion, h.Kind = list.APIVersion, list.Kind
	}
	if journal.IsFormat(h.Format) {
		var err error
		if data, err = journal.WorldOf(data); err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), err)
		}
		h.Format = world.Format
	}
	switch {
	case h.Format == world.Format:
		return []object{{from: document{file: d.file, index: d.index, line: d.line}, kind: world.Format, v: replay(data)}}, nil
	case strings.ContainsFunc(h.APIVersion+h.Kind, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil, fmt.Errorf("%s: apiVersion %q and kind %q cannot both be names", d.where(), h.APIVersion, h.Kind)
	case h.Kind == "":
		return nil, fmt.Errorf("%s: kind is missing: every document needs apiVersion and kind", d.where())
	case strings.HasSuffix(h.Kind, "List") && (h.Items != nil || h.Kind == "List"):
		return decodeItems(d, h.Items, known, head{APIVersion: h.APIVersion, Kind: strings.TrimSuffix(h.Kind, "List")})
	}
	o, err := one(d, data, known, h)
	if err != nil {
		return nil, err
	}
	return []object{o}, nil
}

// one turns JSON into one object of the kind that its head names; an object of a kind that is not known has no value.
func one(d document, data []byte, known map[string]func() any, h head) (object, error) {
	group, version, versioned := strings.Cut(h.APIVersion, "/")
	name := h.Kind
	if versioned {
		name += "." + group
	}
	o := object{from: document{file: d.file, index: d.index, line: d.line}, kind: h.APIVersion + " " + h.Kind}
	empty, ok := known[name]
	if !ok || group == resourcev1.GroupName && version != resourcev1.SchemeGroupVersion.Version {
		o.settings = settingsOf(group, data)
		return o, nil // those before v1 say the same by other fields
	}
	o.as = readAsOf(group, version, h.Kind, h.APIVersion)
	o.v = empty()
	if _, bad := quantity.Mend(data); len(bad) > 0 && strings.Contains(group, "karpenter") {
		return o, fmt.Errorf("%s: %s: %s: %q %s", d.where(), h.Kind, bad[0].Path, bad[0].Value, bad[0].Reason())
	}
	slips, err := kjson.UnmarshalStrict(data, o.v)
	if err != nil {
		return o, fmt.Errorf("%s: %s: %w", d.where(), h.Kind, locate(data, err))
	}
	o.unknown, err = fields(slips)
	if err != nil {
		return o, fmt.Errorf("%s: %s: %w", d.where(), h.Kind, err)
	}
	return o, nil
}

// readAsOf is the apiVersion that an object is read as; empty if that is its own, or one whose fields mean the same.
func readAsOf(group, version, kind, is string) string {
	same := map[string][]string{
		"NodePool": {"v1", "v1beta1"}, "NodeClaim": {"v1", "v1beta1"}, "NodeOverlay": {"v1alpha1"}, "Provisioner": {"v1alpha5"},
		"PodDisruptionBudget": {"v1", "v1beta1"}, "StorageClass": {"v1", "v1beta1"}, "CSINode": {"v1", "v1beta1"}, "CSIDriver": {"v1", "v1beta1"},
		"PriorityClass": {"v1", "v1beta1"},
	}
	read := same[kind]
	if read == nil {
		read = []string{"v1"}
	}
	if version == "" { // of the core group
		version = group
	}
	if slices.Contains(read, version) {
		return ""
	}
	return strings.TrimSuffix(is, version) + read[0]
}

// settingsOf are the fields of a node class by which its machines would offer something else than the catalogue says.
func settingsOf(group string, data []byte) []string {
	if group != "karpenter.k8s.aws" {
		return nil
	}
	var class struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(data, &class) != nil {
		return nil // its spec is said to be skipped
	}
	var out []string
	for _, field := range []string{"amiFamily", "blockDeviceMappings", "capacityReservationSelectorTerms", "instanceStorePolicy", "kubelet"} {
		if class.Spec[field] != nil {
			out = append(out, "spec."+field)
		}
	}
	return out
}

// asJSON turns a document into JSON. What begins as JSON may be YAML all the
// same, {kind: Pod}; if it is neither, it was meant to be JSON.
func asJSON(text []byte) ([]byte, error) {
	if !bytes.HasPrefix(text, []byte("{")) {
		return yaml.YAMLToJSONStrict(text)
	}
	var whole json.RawMessage
	wrong := json.Unmarshal(text, &whole)
	if wrong == nil {
		return text, nil
	}
	if data, err := yaml.YAMLToJSONStrict(text); err == nil {
		return data, nil
	}
	return nil, wrong
}

// fields are the paths of fields that the kind does not have, without the
// places in lists. A field that is there twice is an error.
func fields(slips []error) ([]string, error) {
	var out []string
	for _, slip := range slips {
		var field kjson.FieldError
		if !errors.As(slip, &field) {
			return nil, slip
		}
		if strings.HasPrefix(slip.Error(), "duplicate") {
			return nil, fmt.Errorf("%s is there twice", field.FieldPath())
		}
		out = append(out, anyPlace(field.FieldPath()))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// anyPlace is a path without the places in lists: spec.containers[].image.
func anyPlace(path string) string {
	parts := strings.Split(path, "[")
	for i, p := range parts[1:] {
		_, rest, _ := strings.Cut(p, "]")
		parts[i+1] = "]" + rest
	}
	return strings.Join(parts, "[")
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
