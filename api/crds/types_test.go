package crds_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

// TestTypesAndCRDsAgree reads every accepted manifest into its Go type without losing a field, finds no problem with it,
// and writes it back as the controllers do: the server takes it.
func TestTypesAndCRDsAgree(t *testing.T) {
	s, scheme := newServer(t), newScheme(t)
	for _, file := range files(t, "testdata/accept") {
		t.Run(file, func(t *testing.T) {
			for _, object := range documents(t, read(t, file)) {
				if errs := s.create(t, object); len(errs) > 0 {
					t.Fatal(errs.ToAggregate())
				}
				typed := typedOf(t, scheme, object)
				if errs := problems(typed); len(errs) > 0 {
					t.Errorf("accepted, and yet it has problems: %v", errs.ToAggregate())
				}
				if errs := s.write(t, encode(t, typed), object); len(errs) > 0 {
					t.Errorf("%s written back was refused: %v", object["kind"], errs.ToAggregate())
				}
			}
		})
	}
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1.AddToScheme, v1alpha1.AddToScheme, v1alpha5.AddToScheme, awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func typedOf(t *testing.T, scheme *runtime.Scheme, object map[string]any) runtime.Object {
	t.Helper()
	typed, err := scheme.New(schema.FromAPIVersionAndKind(object["apiVersion"].(string), object["kind"].(string)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(typed); err != nil {
		t.Fatalf("the CRD has a field that the type has not: %v", err)
	}
	return typed
}

func encode(t *testing.T, typed runtime.Object) map[string]any {
	t.Helper()
	text, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, text)[0]
}

func problems(typed runtime.Object) field.ErrorList {
	switch o := typed.(type) {
	case *v1.NodePool:
		return o.Problems()
	case *v1alpha1.NodeOverlay:
		return o.Problems()
	case *v1alpha5.Provisioner:
		return o.Problems()
	case *awsv1.EC2NodeClass:
		return append(o.KubeletProblems(), o.TagProblems()...)
	case *awsv1alpha1.AWSNodeTemplate:
		return o.Problems()
	default:
		return nil
	}
}

func TestDefaults(t *testing.T) {
	tests := map[string]struct {
		why    string
		object string
		path   []string
		want   any
	}{
		"Disruption": {
			"A pool gives back, a tenth of its nodes at a time.",
			`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}}}`,
			[]string{"spec", "disruption"},
			map[string]any{"consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": []any{map[string]any{"nodes": "10%"}}},
		},
		"Budgets": {
			"An empty list of budgets is a choice: no bound.",
			`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"disruption":{"budgets":[]},"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}}}`,
			[]string{"spec", "disruption", "budgets"},
			[]any{},
		},
		"Expiry": {
			"Nodes live thirty days.",
			`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}`,
			[]string{"spec", "expireAfter"},
			"720h",
		},
		"Metadata": {
			"A machine's metadata is for the machine: one hop, with a token.",
			`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"role":"r","amiSelectorTerms":[{"alias":"al2@latest"}],"subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]}}`,
			[]string{"spec", "metadataOptions"},
			map[string]any{"httpEndpoint": "enabled", "httpProtocolIPv6": "disabled", "httpPutResponseHopLimit": int64(1), "httpTokens": "required"},
		},
		"PartOfMetadata": {
			"What a given block leaves out is filled in.",
			`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"metadataOptions":{"httpPutResponseHopLimit":2},"role":"r","amiSelectorTerms":[{"alias":"al2@latest"}],"subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]}}`,
			[]string{"spec", "metadataOptions", "httpTokens"},
			"required",
		},
		"Status": {
			"kubectl describe prints the Status of a Provisioner, empty as it is.",
			`{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","spec":{"providerRef":{"name":"default"}}}`,
			[]string{"status"},
			map[string]any{},
		},
		"Spec": {
			"Nothing is added to what the user wrote.",
			`{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","spec":{"providerRef":{"name":"default"},"limits":{"resources":{"cpu":2000}}}}`,
			[]string{"spec"},
			map[string]any{"providerRef": map[string]any{"name": "default"}, "limits": map[string]any{"resources": map[string]any{"cpu": int64(2000)}}},
		},
	}
	s := newServer(t)
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			object := documents(t, []byte(c.object))[0]
			if errs := s.create(t, object); len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			var got any = object
			for _, p := range c.path {
				got = got.(map[string]any)[p]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestUpdates(t *testing.T) {
	pool := func(spec string) string {
		return `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{` + spec + `"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}}}`
	}
	class := func(group, kind, name string) string {
		return `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"` + group + `","kind":"` + kind + `","name":"` + name + `"}}}}}`
	}
	claim := func(spec string) string {
		return `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","spec":{` + spec + `"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}`
	}
	tests := map[string]struct {
		why      string
		old, now string
		refused  string // part of the message, or nothing
	}{
		"BecomesStatic":  {"A dynamic pool's nodes are its pods', not a number.", pool(""), pool(`"replicas":1,`), "static or dynamic"},
		"BecomesDynamic": {"Nor the other way.", pool(`"replicas":1,`), pool(""), "static or dynamic"},
		"Scales":         {"A static pool may change its number.", pool(`"replicas":1,`), pool(`"replicas":0,`), ""},
		"Weight":         {"A pool may change its weight.", pool(`"weight":1,`), pool(`"weight":2,`), ""},
		"ClassName":      {"Another class of the same kind is drift.", class("g", "k", "n"), class("g", "k", "m"), ""},
		"ClassKind":      {"Another kind of class is another cloud.", class("g", "k", "n"), class("g", "l", "n"), "kind of a pool's class"},
		"ClassGroup":     {"Another group too.", class("g", "k", "n"), class("h", "k", "n"), "group of a pool's class"},
		"Claim":          {"A claim is what was bought.", claim(""), claim(`"expireAfter":"1h",`), "cannot be changed"},
		"SameClaim":      {"Writing the same spec again is no change.", claim(`"expireAfter":"720h",`), claim(""), ""},
	}
	s := newServer(t)
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			old := documents(t, []byte(c.old))[0]
			if errs := s.create(t, old); len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			errs := s.write(t, documents(t, []byte(c.now))[0], old)
			switch {
			case c.refused == "" && len(errs) > 0:
				t.Errorf("refused: %v. %s", errs.ToAggregate(), c.why)
			case c.refused != "" && (len(errs) == 0 || !bytes.Contains([]byte(errs.ToAggregate().Error()), []byte(c.refused))):
				t.Errorf("want refused with %q, got %v. %s", c.refused, errs, c.why)
			}
		})
	}
}
