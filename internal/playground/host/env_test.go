package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEnvironment(t *testing.T) {
	yes := true
	data := map[string]map[string]string{"configmap/settings": {"a": "from-settings"}, "secret/cert": {"k": "from-secret"}}
	look := func(kind, name string) (map[string]string, bool, error) {
		m, ok := data[kind+"/"+name]
		return m, ok, nil
	}
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("2")}}}
	configMap := func(name, key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: optional}}
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	of := func(name, divisor string) *corev1.EnvVarSource {
		r := &corev1.ResourceFieldSelector{Resource: name}
		if divisor != "" {
			r.Divisor = resource.MustParse(divisor)
		}
		return &corev1.EnvVarSource{ResourceFieldRef: r}
	}
	for name, c := range map[string]struct {
		why  string
		env  []corev1.EnvVar
		want map[string]string
		says string
	}{
		"values": {
			why:  "A variable may use those before it.",
			env:  []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A) $(C) $$(A) $A $"}},
			want: map[string]string{"A": "1", "B": "1 $(C) $(A) $A $"},
		},
		"objects": {
			why: "ConfigMaps and Secrets by key; what may be missing and is, is not set.",
			env: []corev1.EnvVar{
				{Name: "A", ValueFrom: configMap("settings", "a", nil)},
				{Name: "B", ValueFrom: configMap("settings", "b", &yes)},
				{Name: "C", ValueFrom: configMap("none", "b", &yes)},
				{Name: "D", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "cert"}, Key: "k"}}},
			},
			want: map[string]string{"A": "from-settings", "D": "from-secret"},
		},
		"a missing key": {
			why:  "It is named, so that the values can be mended.",
			env:  []corev1.EnvVar{{Name: "A", ValueFrom: configMap("settings", "b", nil)}},
			says: "couldn't find key b in configmap ns/settings",
		},
		"a missing object": {
			why:  "It is named, too.",
			env:  []corev1.EnvVar{{Name: "A", ValueFrom: configMap("none", "b", nil)}},
			says: `configmap "none" not found`,
		},
		"the pod": {
			why: "A pod knows its name, and this node its address.",
			env: []corev1.EnvVar{
				{Name: "A", ValueFrom: field("metadata.namespace")}, {Name: "B", ValueFrom: field("metadata.labels['app']")}, {Name: "C", ValueFrom: field("status.podIP")},
			},
			want: map[string]string{"A": "ns", "B": "x", "C": "192.0.2.2"},
		},
		"resources": {
			why: "Rounded up to the divisor; a limit that is not set is all of the node.",
			env: []corev1.EnvVar{
				{Name: "A", ValueFrom: of("limits.memory", "")},
				{Name: "B", ValueFrom: of("requests.cpu", "1m")},
				{Name: "C", ValueFrom: of("requests.cpu", "")},
				{Name: "D", ValueFrom: of("limits.cpu", "1")},
				{Name: "E", ValueFrom: of("limits.memory", "1Gi")},
			},
			want: map[string]string{"A": "536870912", "B": "250", "C": "1", "D": "2", "E": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", Labels: map[string]string{"app": "x"}}}
			p.Spec.Containers = []corev1.Container{{Env: c.env, Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("250m")}, Limits: corev1.ResourceList{"memory": resource.MustParse("512Mi")},
			}}}
			got, err := environment(p, node, map[string]string{"status.podIP": "192.0.2.2"}, look)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("%s\ngot %v, want it to say %q", c.why, err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestOnlyOurImageRuns(t *testing.T) {
	h := &Host{o: Options{Image: "tenon-sh/tenon"}}
	for image, runs := range map[string]bool{
		"tenon-sh/tenon":                        true,
		"tenon-sh/tenon:0.1.0":                  true,
		"registry.example:5000/tenon-sh/tenon":  true,
		"r.example/x/tenon-sh/tenon:1@sha256:0": true,
		"nginx":                                 false,
		"not-tenon-sh/tenon":                    false,
		"r.example/tenon":                       false,
	} {
		p := newPod(h, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}})
		if why := p.refuse(); (why == "") != runs {
			t.Errorf("%s: %q, want it to run: %t", image, why, runs)
		}
	}
	two := newPod(h, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "tenon-sh/tenon"}, {Image: "tenon-sh/tenon"}}}})
	if two.refuse() == "" {
		t.Error("a pod of two containers runs, and only one of them")
	}
}

func TestTheLastLinesOfALog(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct {
		text  string
		lines int
		want  string
	}{
		"all":                 {"a\nb\n", -1, "a\nb\n"},
		"none":                {"a\nb\n", 0, ""},
		"one":                 {"a\nb\n", 1, "b\n"},
		"an unfinished one":   {"a\nb", 1, "b"},
		"more than there are": {"a\nb\n", 9, "a\nb\n"},
		"longer than a block": {"a\n" + long + "\nb\n", 2, long + "\nb\n"},
		"an empty log":        {"", 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := skip(f, c.lines); err != nil {
				t.Fatal(err)
			}
			var rest strings.Builder
			if _, err := f.WriteTo(&rest); err != nil {
				t.Fatal(err)
			}
			if rest.String() != c.want {
				t.Errorf("got %d bytes, want %d", rest.Len(), len(c.want))
			}
		})
	}
}
