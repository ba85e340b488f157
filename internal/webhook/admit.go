// Package webhook answers the API server's questions about Provisioners and AWSNodeTemplates that are being written.
//
// Nothing depends on it: the CRDs refuse the same mistakes, the status of the
// objects names those that came past, and the API server does not wait for an answer that does not come.
package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/api/quantity"
)

// Validate refuses an object that has problems, and says all of them.
func Validate(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	errs, err := problems(r)
	if err != nil {
		return refuse(r, err.Error())
	}
	if len(errs) == 0 {
		return &admissionv1.AdmissionResponse{UID: r.UID, Allowed: true}
	}
	said := make([]string, len(errs))
	for i, e := range errs {
		said[i] = e.Error()
	}
	return refuse(r, strings.Join(said, "; "))
}

func refuse(r *admissionv1.AdmissionRequest, why string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{UID: r.UID, Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid, Message: why,
	}}
}

func problems(r *admissionv1.AdmissionRequest) (field.ErrorList, error) {
	// Kubernetes' own reading of a quantity may not end, so it never sees those that could keep it.
	raw, unreadable := quantity.Mend(r.Object.Raw)
	errs := make(field.ErrorList, 0, len(unreadable))
	for _, u := range unreadable {
		errs = append(errs, field.Invalid(field.NewPath(u.Path), u.Value, u.Reason()))
	}
	switch r.Kind.Kind {
	case "Provisioner":
		var p v1alpha5.Provisioner
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("read provisioner %q: %w", r.Name, err)
		}
		if p.DeletionTimestamp != nil {
			return nil, nil // it goes, and its finalizers must come off
		}
		return append(errs, p.Problems()...), nil
	case "AWSNodeTemplate":
		var t awsv1alpha1.AWSNodeTemplate
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("read template %q: %w", r.Name, err)
		}
		if t.DeletionTimestamp != nil {
			return nil, nil
		}
		return append(errs, t.Problems()...), nil
	}
	return nil, nil
}

// Canonical brings the quantities of a Provisioner to their canonical form, as
// Kubernetes does with its own kinds: 2000 of cpu reads back as 2k. It changes
// nothing else, and fills in nothing. What it cannot read is not its to refuse.
func Canonical(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	out := &admissionv1.AdmissionResponse{UID: r.UID, Allowed: true}
	var p struct {
		Spec struct {
			Limits               struct{ Resources map[string]json.RawMessage }
			KubeletConfiguration struct{ SystemReserved, KubeReserved map[string]json.RawMessage }
		}
	}
	if r.Kind.Kind != "Provisioner" || json.Unmarshal(r.Object.Raw, &p) != nil {
		return out
	}
	patch := slices.Concat(
		rewrite("/spec/limits/resources", p.Spec.Limits.Resources),
		rewrite("/spec/kubeletConfiguration/systemReserved", p.Spec.KubeletConfiguration.SystemReserved),
		rewrite("/spec/kubeletConfiguration/kubeReserved", p.Spec.KubeletConfiguration.KubeReserved),
	)
	if len(patch) == 0 {
		return out
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return out
	}
	kind := admissionv1.PatchTypeJSONPatch
	out.Patch, out.PatchType = text, &kind
	return out
}

// operation is one step of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value"`
}

// rewrite returns a step for each quantity below path that is written otherwise than it should be.
func rewrite(path string, amounts map[string]json.RawMessage) []operation {
	var out []operation
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		var read corev1.ResourceList
		text := amounts[name]
		if len(text) > 0 && text[0] == '"' && !quantity.Readable(strings.Trim(string(text), `"`)) {
			continue
		}
		one, err := json.Marshal(map[string]json.RawMessage{name: amounts[name]})
		if err != nil || json.Unmarshal(one, &read) != nil {
			continue
		}
		amount := read[corev1.ResourceName(name)]
		if is := amount.String(); string(amounts[name]) != `"`+is+`"` {
			pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			out = append(out, operation{"replace", path + "/" + pointer, is})
		}
	}
	return out
}
