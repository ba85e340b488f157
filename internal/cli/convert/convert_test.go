package convert_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/api/crds"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/convert"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/observe"
)

const documents = "../../../api/crds/testdata/accept/documents/"

// run converts as a user would.
func run(t *testing.T, stdin string, args ...string) (status int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = verb.Run(t.Context(), convert.Command(), args, verb.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

// converted converts what can be, and has an API server's rules applied to it.
func converted(t *testing.T, stdin string, args ...string) (objects []map[string]any, said string) {
	t.Helper()
	status, out, said := run(t, stdin, append([]string{"-f", "-"}, args...)...)
	if status != verb.OK {
		t.Fatalf("status %d\n%s", status, said)
	}
	for doc := range strings.SplitSeq(out, "---\n") {
		if doc == "" {
			continue
		}
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
		for _, err := range refused(t, o) {
			t.Errorf("an API server would refuse it: %v\n%s", err, doc)
		}
	}
	return objects, said
}

// refused is what the CRD of an object has against it.
func refused(t *testing.T, o map[string]any) field.ErrorList {
	t.Helper()
	for _, text := range crds.All() {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind != o["kind"] {
			continue
		}
		var open apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &open, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(&open)
		if err != nil {
			t.Fatal(err)
		}
		values, _, err := validation.NewSchemaValidator(&open)
		if err != nil {
			t.Fatal(err)
		}
		defaulting.Default(o, structural)
		errs := validation.ValidateCustomResource(nil, o, values)
		rules, _ := cel.NewValidator(structural, true, celconfig.PerCallLimit).Validate(t.Context(), nil, structural, o, nil, celconfig.RuntimeCELCostBudget)
		return append(errs, rules...)
	}
	t.Fatalf("no CRD of kind %v", o["kind"])
	return nil
}

// at is the value at a path of a decoded object.
func at(o map[string]any, path string) any {
	var v any = o
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

const (
	subnets = "subnetSelector: {karpenter.sh/discovery: c}"
	groups  = "securityGroupSelector: {karpenter.sh/discovery: c}"
)

func template(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: %s}\nspec:\n  %s\n", name, strings.ReplaceAll(spec, "\n", "\n  "))
}

func provisioner(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: %s}\nspec:\n  %s\n", name, strings.ReplaceAll(spec, "\n", "\n  "))
}

// What each field becomes, and what is said of those that become nothing.
func TestFields(t *testing.T) {
	plain := template("t", subnets+"\n"+groups+"\ninstanceProfile: p")
	tests := map[string]struct {
		why    string
		in     string
		object int // of the output, classes first
		path   string
		want   string // YAML
		said   string
	}{
		"EmptyNodes": {
			why: "Seconds after which empty nodes go.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nttlSecondsAfterEmpty: 30"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmpty, consolidateAfter: 30s, budgets: [{nodes: 100%}]}",
		},
		"Consolidation": {
			why: "Consolidation acted as soon as it could.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nconsolidation: {enabled: true}"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: 100%}]}",
		},
		"NeverGivenBack": {
			why: "Neither was said: nodes stayed, and a NodePool's default would give them back.",
			in:  plain + provisioner("p", "providerRef: {name: t}"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: 100%}]}",
		},
		"Expiry": {
			why: "The oldest a node may grow.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nttlSecondsUntilExpired: 86400"), object: 1, path: "spec.template.spec.expireAfter",
			want: "86400s",
		},
		"NoExpiry": {
			why: "Nodes did not expire unless one said so; a NodePool's default is 30 days.",
			in:  plain + provisioner("p", "providerRef: {name: t}"), object: 1, path: "spec.template.spec.expireAfter",
			want: "Never",
		},
		"Defaults": {
			why: "What the Provisioner left open is written out, what it narrowed is not.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nrequirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: node.kubernetes.io/instance-type, operator: In, values: [m7g.large]}]"), object: 1, path: "spec.template.spec.requirements",
			want: "[{key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: node.kubernetes.io/instance-type, operator: In, values: [m7g.large]}, {key: kubernetes.io/os, operator: In, values: [linux]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]",
			said: "kubernetes.io/os In linux; karpenter.sh/capacity-type In on-demand",
		},
		"OldLabel": {
			why: "A label that has a newer name gets it.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nrequirements: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, values: [a]}, {key: kubernetes.io/os, operator: Exists}, {key: kubernetes.io/arch, operator: Exists}, {key: karpenter.sh/capacity-type, operator: Exists}, {key: karpenter.k8s.aws/instance-family, operator: Exists}]"), object: 1, path: "spec.template.spec.requirements",
			want: "[{key: topology.kubernetes.io/zone, operator: In, values: [a]}, {key: kubernetes.io/os, operator: Exists}, {key: kubernetes.io/arch, operator: Exists}, {key: karpenter.sh/capacity-type, operator: Exists}, {key: karpenter.k8s.aws/instance-family, operator: Exists}]",
			said: "spec.requirements[0].key: failure-domain.beta.kubernetes.io/zone is now called topology.kubernetes.io/zone",
		},
		"Template": {
			why: "What nodes carry.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nlabels: {a: b}\nannotations: {c: d}\nweight: 7\nlimits: {resources: {cpu: 100, nvidia.com/gpu: 2}}"), object: 1, path: "spec.template.metadata",
			want: "{labels: {a: b}, annotations: {c: d}}",
		},
		"Limits": {
			why: "Limits lose one level.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nlimits: {resources: {cpu: 100, nvidia.com/gpu: 2}}"), object: 1, path: "spec.limits",
			want: `{cpu: "100", nvidia.com/gpu: "2"}`,
		},
		"Thousand": {
			why: "A thousand CPUs are written as people write them, not as 1k; memory keeps its suffix.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nlimits: {resources: {cpu: 1000, memory: 1000Gi}}"), object: 1, path: "spec.limits",
			want: `{cpu: "1000", memory: 1000Gi}`,
		},
		"Runtime": {
			why: "Another runtime than containerd is lost, and that is said.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nkubeletConfiguration: {containerRuntime: dockerd}"), object: 0, path: "spec.kubelet",
			want: "null", said: "containerRuntime: dockerd is left out",
		},
		"Kubelet": {
			why: "Settings of the kubelet move to the class.",
			in:  plain + provisioner("p", "providerRef: {name: t}\nkubeletConfiguration: {containerRuntime: containerd, maxPods: 20, evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m}}"), object: 0, path: "spec.kubelet",
			want: "{maxPods: 20, evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m0s}}",
		},
		"MetadataUnset": {
			why: "The default was two hops, and is one now.",
			in:  plain, object: 0, path: "spec.metadataOptions",
			want: "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 2, httpTokens: required}",
		},
		"MetadataInPart": {
			why: "A block in part went to EC2 as it was, and EC2's defaults were in force.",
			in:  template("t", subnets+"\n"+groups+"\ninstanceProfile: p\nmetadataOptions: {httpPutResponseHopLimit: 3}"), object: 0, path: "spec.metadataOptions",
			want: "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 3, httpTokens: optional}",
		},
		"CommaValues": {
			why: "Values between commas are alternatives: a term for each choice.",
			in:  template("t", "subnetSelector: {Name: \"a, b\", zone: \"*\"}\n"+groups+"\ninstanceProfile: p"), object: 0, path: "spec.subnetSelectorTerms",
			want: "[{tags: {Name: a, zone: '*'}}, {tags: {Name: b, zone: '*'}}]",
		},
		"IDs": {
			why: "Ids are a term each.",
			in:  template("t", subnets+"\nsecurityGroupSelector: {aws-ids: \"sg-1,sg-2\"}\ninstanceProfile: p"), object: 0, path: "spec.securityGroupSelectorTerms",
			want: "[{id: sg-1}, {id: sg-2}]",
		},
		"ImageNames": {
			why: "A name and owners: a term for each owner.",
			in:  template("t", subnets+"\n"+groups+"\ninstanceProfile: p\namiSelector: {aws::name: x, aws::owners: \"self,amazon\"}"), object: 0, path: "spec.amiSelectorTerms",
			want: "[{name: x, owner: self}, {name: x, owner: amazon}]", said: "no longer narrow the types",
		},
		"Family": {
			why: "The family that was the default is written out.",
			in:  plain, object: 0, path: "spec.amiFamily",
			want: "AL2",
		},
		"Bottlerocket": {
			why: "The newest image of a family is an alias.",
			in:  template("t", subnets+"\n"+groups+"\ninstanceProfile: p\namiFamily: Bottlerocket"), object: 0, path: "spec.amiSelectorTerms",
			want: "[{alias: bottlerocket@latest}]",
		},
		"Disk": {
			why: "A size in other units is the whole GiB that EC2 made of it.",
			in:  template("t", subnets+"\n"+groups+"\ninstanceProfile: p\nblockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20500Mi, volumeType: gp3}}]"), object: 0, path: "spec.blockDeviceMappings",
			want: "[{deviceName: /dev/xvda, ebs: {volumeSize: 21Gi, volumeType: gp3}}]", said: "volumeSize 20500Mi of /dev/xvda is written as 21Gi",
		},
		"Tags": {
			why: "Tags that the controller sets itself are left out.",
			in:  template("t", subnets+"\n"+groups+"\ninstanceProfile: p\ntags: {team: x, kubernetes.io/cluster/c: owned}"), object: 0, path: "spec.tags",
			want: "{team: x}", said: "kubernetes.io/cluster/c is left out",
		},
		"Others": {
			why: "Objects of other kinds are none of its business, and that is said.",
			in:  plain + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n", object: 0, path: "metadata.name",
			want: "t", said: "ConfigMap/cm of v1 is not of a kind",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, said := converted(t, test.in)
			var want any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if len(objects) <= test.object {
				t.Fatalf("only %d objects\n%s", len(objects), said)
			}
			if diff := cmp.Diff(want, at(objects[test.object], test.path)); diff != "" {
				t.Errorf("%s\n%s: -want +got\n%s", test.why, test.path, diff)
			}
			if !strings.Contains(said, test.said) {
				t.Errorf("%s\nno %q in\n%s", test.why, test.said, said)
			}
			for line := range strings.Lines(said) {
				if !strings.HasPrefix(line, "# ") {
					t.Errorf("%q is no comment", line)
				}
			}
		})
	}
}

// What cannot be converted is named with its field, and the status says that something is missing.
func TestRefused(t *testing.T) {
	tests := map[string]struct {
		in     string
		status int
		said   string
	}{
		"LaunchTemplate": {provisioner("p", "provider: {launchTemplate: mine, subnetSelector: {a: b}}"), verb.Failed, "# Provisioner/p: spec.provider.launchTemplate: an EC2NodeClass uses no launch template of yours: write one that says what mine says"},
		"Ubuntu":         {template("t", subnets+"\n"+groups+"\ninstanceProfile: p\namiFamily: Ubuntu"), verb.Failed, "# AWSNodeTemplate/t: spec.amiFamily: an EC2NodeClass knows no Ubuntu"},
		"NoProfile":      {template("t", subnets+"\n"+groups), verb.Failed, "say with --instance-profile"},
		"IDsAndTags":     {template("t", "subnetSelector: {aws-ids: subnet-1, a: b}\n"+groups+"\ninstanceProfile: p"), verb.Failed, "spec.subnetSelector: it asks for ids and for tags at once"},
		"TooManyTerms":   {template("t", "subnetSelector: {a: \"1,2,3,4,5,6\", b: \"1,2,3,4,5,6\"}\n"+groups+"\ninstanceProfile: p"), verb.Failed, "more than 30 terms"},
		"Invalid":        {provisioner("p", "providerRef: {name: t}\nttlSecondsAfterEmpty: 1\nconsolidation: {enabled: true}"), verb.Failed, "# Provisioner/p: spec.ttlSecondsAfterEmpty:"},
		"UnknownField":   {template("t", "instanceType: m5.large"), verb.Unusable, `-: document 1 (line 2): unknown field "instanceType"`},
		"NoYAML":         {"a: [", verb.Unusable, "-: document 1 (line 1):"},
		"Text":           {"hello", verb.Unusable, "it is text: every document is a map with apiVersion and kind"},
		"Nothing":        {"# soon\n", verb.Unusable, "-: no document in it"},
		"NoKind":         {"a: b", verb.Unusable, "kind is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, _, said := run(t, test.in, "-f", "-")
			if status != test.status || !strings.Contains(said, test.said) {
				t.Errorf("status %d, want %d with %q\n%s", status, test.status, test.said, said)
			}
		})
	}
	if status, _, said := run(t, ""); status != verb.Unusable || !strings.Contains(said, "name a file with -f") {
		t.Errorf("without a file: status %d, %s", status, said)
	}
}

// A template becomes as many classes as its Provisioners have kubelet settings, and each pool names its own.
func TestKubeletSettingsMakeClasses(t *testing.T) {
	objects, _ := converted(t, template("t", subnets+"\n"+groups+"\ninstanceProfile: p")+
		provisioner("a", "providerRef: {name: t}")+
		provisioner("b", "providerRef: {name: t}\nkubeletConfiguration: {maxPods: 20}")+
		provisioner("c", "providerRef: {name: t}\nkubeletConfiguration: {maxPods: 20}"))
	got := map[string]any{}
	for _, o := range objects {
		name := fmt.Sprintf("%s/%s", o["kind"], at(o, "metadata.name"))
		if o["kind"] == "NodePool" {
			got[name] = at(o, "spec.template.spec.nodeClassRef.name")
		} else {
			got[name] = at(o, "spec.kubelet.maxPods")
		}
	}
	want := map[string]any{
		"EC2NodeClass/t": nil, "EC2NodeClass/t-b": float64(20),
		"NodePool/a": "t", "NodePool/b": "t-b", "NodePool/c": "t-b",
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("numbers", func(n int64) float64 { return float64(n) })); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Manifests of older guides convert, and mean the same to the engine as before.
func TestDocuments(t *testing.T) {
	files, err := filepath.Glob(documents + "*provisioner*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(documents + "001-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("launchTemplate:")) {
			continue // see TestRefused
		}
		tried++
		objects, said := converted(t, string(text), "--instance-profile", "KarpenterNodeInstanceProfile-c")
		var in []world.Pool
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			var p v1alpha5.Provisioner
			if err := yaml.Unmarshal([]byte(doc), &p); err != nil {
				t.Fatal(err)
			}
			if p.Kind == "Provisioner" {
				in = append(in, observe.Provisioner(&p))
			}
		}
		var out []world.Pool
		for _, o := range objects {
			if o["kind"] != "NodePool" {
				continue
			}
			var p v1.NodePool
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict(text, &p); err != nil {
				t.Fatal(err)
			}
			out = append(out, observe.NodePool(&p))
		}
		if len(in) != len(out) {
			t.Fatalf("%s: %d pools became %d\n%s", file, len(in), len(out), said)
		}
		for i := range in {
			// The two differ in what they are and in the class they name, and a NodePool's budget says what a Provisioner meant.
			in[i].ID, out[i].ID, in[i].Template, out[i].Template = world.PoolID{}, world.PoolID{}, "", ""
			delete(in[i].Labels, "karpenter.k8s.aws/awsnodetemplate")
			delete(in[i].Labels, "karpenter.sh/provisioner") // the class stands in it
			delete(out[i].Labels, "karpenter.k8s.aws/ec2nodeclass")
			if diff := cmp.Diff([]world.Budget{{Nodes: "100%"}}, out[i].Disruption.Budgets); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			out[i].Disruption.Budgets = in[i].Disruption.Budgets
			if diff := cmp.Diff(in[i], out[i]); diff != "" {
				t.Errorf("%s: -before +after\n%s", file, diff)
			}
		}
	}
	if tried < 4 {
		t.Fatalf("only %d manifests were found", tried)
	}
}

// The same objects as `kubectl get -o yaml` prints them: a List, with what the cluster wrote there.
func TestListFromACluster(t *testing.T) {
	objects, _ := converted(t, `
apiVersion: v1
kind: List
items:
- apiVersion: karpenter.k8s.aws/v1alpha1
  kind: AWSNodeTemplate
  metadata:
    name: default
    uid: x
    resourceVersion: "1"
    generation: 1
    creationTimestamp: "2023-01-01T00:00:00Z"
    labels: {team: a}
    annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", karpenter.k8s.aws/nodetemplate-hash: "1", note: kept}
  spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}
  status: {subnets: [{id: subnet-1, zone: a}]}
`, "--role", "KarpenterNodeRole-c")
	want := map[string]any{"name": "default", "labels": map[string]any{"team": "a"}, "annotations": map[string]any{"note": "kept"}}
	if diff := cmp.Diff(want, objects[0]["metadata"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if at(objects[0], "spec.role") != "KarpenterNodeRole-c" || objects[0]["status"] != nil {
		t.Errorf("got %v", objects[0])
	}
}
