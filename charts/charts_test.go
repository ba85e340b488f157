package charts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/api/crds"
	"github.com/tenon-sh/tenon/charts"
	"github.com/tenon-sh/tenon/internal/cli/controller"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/metric"
)

// helm runs Helm and returns what it said.
func helm(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	binary, err := kube.Find()
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, "helm")
	cmd.Args = append([]string{"helm"}, args...) // the binary is known by its name
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// rendered are the objects of a chart.
type rendered []unstructured.Unstructured

// render is `helm template` of a chart, with more arguments.
func render(t *testing.T, chart string, args ...string) rendered {
	t.Helper()
	out, errs, err := helm(t, append([]string{"template", "karpenter", chart, "--namespace", "karpenter"}, args...)...)
	if err != nil {
		t.Fatalf("helm template %q: %v\n%s", args, err, errs)
	}
	var all rendered
	for doc := range strings.SplitSeq(out, "\n---\n") {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
	return all
}

func (r rendered) kinds() map[string]int {
	n := map[string]int{}
	for _, o := range r {
		n[o.GetKind()]++
	}
	return n
}

// one decodes the only object of a kind and name. A field that the kind does not have is an error.
func one[T any](t *testing.T, r rendered, kind, name string) T {
	t.Helper()
	var out T
	for _, o := range r {
		if o.GetKind() != kind || o.GetName() != name {
			continue
		}
		strict(t, o, &out)
		return out
	}
	t.Fatalf("no %s %q among %v", kind, name, r.kinds())
	return out
}

func strict(t *testing.T, o unstructured.Unstructured, into any) {
	t.Helper()
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Errorf("%s %q: %v", o.GetKind(), o.GetName(), err)
	}
}

// environment is what the controller would read, with references to the ConfigMaps followed.
func environment(t *testing.T, r rendered) map[string]string {
	t.Helper()
	deployment := one[appsv1.Deployment](t, r, "Deployment", "karpenter")
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) != 1 || containers[0].Name != "controller" {
		t.Fatalf("containers are %v, want one, called controller", containers)
	}
	env := map[string]string{}
	for _, e := range containers[0].Env {
		env[e.Name] = e.Value
		if e.ValueFrom == nil || e.ValueFrom.ConfigMapKeyRef == nil {
			continue
		}
		ref := e.ValueFrom.ConfigMapKeyRef
		value, ok := one[corev1.ConfigMap](t, r, "ConfigMap", ref.Name).Data[ref.Key]
		if !ok {
			t.Errorf("%s refers to key %s of ConfigMap %s, which has none", e.Name, ref.Key, ref.Name)
		}
		env[e.Name] = value
	}
	return env
}

func TestLint(t *testing.T) {
	for _, chart := range []string{"karpenter", "karpenter-crd"} {
		if out, errs, err := helm(t, "lint", "--strict", chart); err != nil {
			t.Errorf("%v\n%s%s", err, out, errs)
		}
	}
}

// A render with default values is the nine parts that readers of older guides know, and nothing else.
func TestDefaultsAreNineParts(t *testing.T) {
	got := render(t, "karpenter").kinds()
	want := map[string]int{
		"PodDisruptionBudget": 1,
		"ServiceAccount":      1,
		"Secret":              1,
		"ConfigMap":           2, // one for the log, one for settings
		"ClusterRole":         3, "ClusterRoleBinding": 2, "Role": 2, "RoleBinding": 2,
		"Service":                        1,
		"Deployment":                     1,
		"ValidatingWebhookConfiguration": 1, "MutatingWebhookConfiguration": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Every object decodes as the kind it says it is, field for field.
func TestEveryFieldExists(t *testing.T) {
	into := map[string]func() any{
		"PodDisruptionBudget":            func() any { return &policyv1.PodDisruptionBudget{} },
		"ServiceAccount":                 func() any { return &corev1.ServiceAccount{} },
		"Secret":                         func() any { return &corev1.Secret{} },
		"ConfigMap":                      func() any { return &corev1.ConfigMap{} },
		"ClusterRole":                    func() any { return &rbacv1.ClusterRole{} },
		"ClusterRoleBinding":             func() any { return &rbacv1.ClusterRoleBinding{} },
		"Role":                           func() any { return &rbacv1.Role{} },
		"RoleBinding":                    func() any { return &rbacv1.RoleBinding{} },
		"Service":                        func() any { return &corev1.Service{} },
		"Deployment":                     func() any { return &appsv1.Deployment{} },
		"NetworkPolicy":                  func() any { return &networkingv1.NetworkPolicy{} },
		"ValidatingWebhookConfiguration": func() any { return &admissionv1.ValidatingWebhookConfiguration{} },
		"MutatingWebhookConfiguration":   func() any { return &admissionv1.MutatingWebhookConfiguration{} },
	}
	for _, o := range render(t, "karpenter", "-f", "testdata/everything.yaml") {
		switch typed := into[o.GetKind()]; {
		case typed != nil:
			strict(t, o, typed())
		case !slices.Contains([]string{"ServiceMonitor", "PrometheusRule"}, o.GetKind()):
			t.Errorf("%s %q: which kind is that?", o.GetKind(), o.GetName())
		}
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		if o.GetName() != "extra" && (labels["team"] != "platform" || annotations["note"] != "ours") {
			t.Errorf("%s %q has labels %v and annotations %v, want those of additionalLabels and additionalAnnotations", o.GetKind(), o.GetName(), labels, annotations)
		}
	}
}

func TestOptions(t *testing.T) {
	got := render(t, "karpenter", "-f", "testdata/everything.yaml").kinds()
	maps.DeleteFunc(got, func(kind string, _ int) bool {
		return !slices.Contains([]string{"NetworkPolicy", "ServiceMonitor", "PrometheusRule", "ConfigMap"}, kind)
	})
	want := map[string]int{"NetworkPolicy": 1, "ServiceMonitor": 1, "PrometheusRule": 1, "ConfigMap": 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	bare := render(t, "karpenter", "--set", "webhook.enabled=false,serviceAccount.create=false,serviceAccount.name=mine")
	for _, kind := range []string{"ServiceAccount", "Secret", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		if bare.kinds()[kind] != 0 {
			t.Errorf("a %s, though it is switched off", kind)
		}
	}
	if got := one[appsv1.Deployment](t, bare, "Deployment", "karpenter").Spec.Template.Spec.ServiceAccountName; got != "mine" {
		t.Errorf("pods run as %q, want mine", got)
	}
}

// The API for callers of the API server is there if it is switched on, and never without the webhook that serves it: an
// APIService that nothing answers for keeps namespaces from being deleted.
func TestViewAPI(t *testing.T) {
	for values, want := range map[string]int{"settings.viewAPI=true": 1, "settings.viewAPI=true,webhook.enabled=false": 0, "settings.viewAPI=true,shadow=true": 0, "settings.viewAPI=false": 0} {
		if got := render(t, "karpenter", "--set", values).kinds()["APIService"]; got != want {
			t.Errorf("with %s there are %d APIServices, want %d", values, got, want)
		}
	}
}

// The commands of older guides, with their values.
func TestCommandsOfOlderGuides(t *testing.T) {
	const role = "arn:aws-cn:iam::123456789012:role/testkarpenter-karpenter"
	set := func(values ...string) []string {
		args := []string{"--set", `serviceAccount.annotations.eks\.amazonaws\.com/role-arn=` + role}
		for _, v := range values {
			args = append(args, "--set", v)
		}
		return args
	}
	tests := map[string]struct {
		why      string
		args     []string
		env      map[string]string
		settings map[string]string
		level    string
	}{
		"V0.22": {
			why: "The settings of v0.19 to v0.31 stand below settings.aws.",
			args: append(set(
				"settings.aws.clusterName=testkarpenter", "settings.aws.clusterEndpoint=https://abc.eks.cn-north-1.amazonaws.com.cn",
				"settings.aws.defaultInstanceProfile=KarpenterNodeInstanceProfile-testkarpenter", "settings.aws.interruptionQueueName=testkarpenter",
			), "--version", "v0.22.1", "--wait"),
			env: map[string]string{
				"CLUSTER_NAME": "testkarpenter", "CLUSTER_ENDPOINT": "https://abc.eks.cn-north-1.amazonaws.com.cn",
				"AWS_DEFAULT_INSTANCE_PROFILE": "KarpenterNodeInstanceProfile-testkarpenter", "INTERRUPTION_QUEUE": "testkarpenter",
			},
			settings: map[string]string{
				"aws.clusterName": "testkarpenter", "aws.clusterEndpoint": "https://abc.eks.cn-north-1.amazonaws.com.cn",
				"aws.defaultInstanceProfile": "KarpenterNodeInstanceProfile-testkarpenter", "aws.interruptionQueueName": "testkarpenter",
			},
			level: "info",
		},
		"V0.18": {
			why:      "Before, they stood at the top.",
			args:     set("clusterName=testkarpenter", "clusterEndpoint=https://abc", "aws.defaultInstanceProfile=p"),
			env:      map[string]string{"CLUSTER_NAME": "testkarpenter", "CLUSTER_ENDPOINT": "https://abc", "AWS_DEFAULT_INSTANCE_PROFILE": "p", "INTERRUPTION_QUEUE": ""},
			settings: map[string]string{"aws.clusterName": "testkarpenter"},
			level:    "info",
		},
		"V0.6": {
			why:      "The first chart had the level of the log at the top, as today's has.",
			args:     set("clusterName=karpenter-cluster", "clusterEndpoint=https://abc", "aws.defaultInstanceProfile=p", "logLevel=debug"),
			env:      map[string]string{"CLUSTER_NAME": "karpenter-cluster", "LOG_LEVEL": "debug"},
			settings: map[string]string{"aws.clusterName": "karpenter-cluster"},
			level:    "debug",
		},
		"Today": {
			why:      "Today's names, as its guide sets them.",
			args:     set("settings.clusterName=c", "settings.interruptionQueue=c", "controller.resources.requests.cpu=1", "controller.resources.requests.memory=1Gi", "controller.resources.limits.cpu=1", "controller.resources.limits.memory=1Gi"),
			env:      map[string]string{"CLUSTER_NAME": "c", "INTERRUPTION_QUEUE": "c"},
			settings: map[string]string{"aws.interruptionQueueName": "c"},
			level:    "info",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := render(t, "karpenter", slices.DeleteFunc(test.args, func(a string) bool { return a == "--wait" })...)
			env := environment(t, r)
			for k, want := range test.env {
				if env[k] != want {
					t.Errorf("%s\n%s is %q, want %q", test.why, k, env[k], want)
				}
			}
			settings := one[corev1.ConfigMap](t, r, "ConfigMap", "karpenter-global-settings").Data
			for k, want := range test.settings {
				if settings[k] != want {
					t.Errorf("%s\nkey %s is %q, want %q", test.why, k, settings[k], want)
				}
			}
			if log := one[corev1.ConfigMap](t, r, "ConfigMap", "config-logging").Data["zap-logger-config"]; !strings.Contains(log, `"level": "`+test.level+`"`) {
				t.Errorf("the log is set to\n%s\nwant level %s", log, test.level)
			}
			account := one[corev1.ServiceAccount](t, r, "ServiceAccount", "karpenter")
			if got := account.Annotations["eks.amazonaws.com/role-arn"]; got != role {
				t.Errorf("the role is %q, want %q", got, role)
			}
		})
	}
}

// Each name of each setting reaches the controller. Two that say different things are refused by their names; of the
// log's, the controller's own count.
func TestSettings(t *testing.T) {
	samples := map[string][2]string{
		"CLUSTER_ENDPOINT": {"https://a", "https://b"}, "ISOLATED_VPC": {"true", "false"}, "VM_MEMORY_OVERHEAD_PERCENT": {"0.05", "0.06"},
		"RESERVED_ENIS": {"1", "2"}, "BATCH_MAX_DURATION": {"3s", "4s"}, "BATCH_IDLE_DURATION": {"3s", "4s"},
		"PREFERENCE_POLICY": {"Ignore", "Respect"}, "MIN_VALUES_POLICY": {"BestEffort", "Strict"}, "NODE_CHARGE": {"0.05", "0.5"}, "SPOT_PREMIUM": {"10", "20"}, "UNHEALTHY_POOLS_LAST": {"true", "false"}, "NOMINATE_PODS": {"false", "true"}, "HOLD_NODES_FOR": {"5s", "20s"}, "INITIALIZATION_TIMEOUT": {"10m", "20m"}, "MOVE_PODS": {"false", "true"}, "CONSOLIDATION_LEVEL": {"eager", "cautious"}, "EKS_CONTROL_PLANE": {"true", "false"}, "AMI_REFRESH_INTERVAL": {"3m", "4m"}, "SUBNET_REFRESH_INTERVAL": {"3m", "4m"}, "SECURITY_GROUP_REFRESH_INTERVAL": {"3m", "4m"}, "DISABLE_CLUSTER_STATE_OBSERVABILITY": {"true", "false"}, "IGNORE_DRA_REQUESTS": {"false", "true"}, "LIVE_PAGE": {"true", "false"}, "RECORD_FILE": {"/recording/a.rec", "/recording/b.rec"}, "RECORD_LIMIT": {"2097152", "4194304"}, "OTEL_EXPORTER_OTLP_ENDPOINT": {"http://a:4318", "http://b:4318"}, "VIEW_API": {"true", "false"}, "SHADOW": {"true", "false"}, "ENABLE_ZONAL_SHIFT": {"true", "false"}, "DISABLE_DRY_RUN": {"true", "false"},
		"LOG_LEVEL": {"error", "debug"}, "LOG_ENCODING": {"json", "console"}, "METRICS_PORT": {"9000", "9001"}, "WEBHOOK_PORT": {"9000", "9001"}, "HEALTH_PROBE_PORT": {"9000", "9001"},
	}
	defaults := environment(t, render(t, "karpenter"))
	sampled := func(s charts.Setting) [2]string {
		if sample, ok := samples[s.Env]; ok {
			return sample
		}
		return [2]string{"one-" + s.Env, "two-" + s.Env}
	}
	// All settings by their first names, then those that have second ones, and third ones. Gates are maps, see below, and with a shadow's chart other things are left out.
	apart := []string{"FEATURE_GATES", "AWS_FEATURE_GATES", "SHADOW"}
	for i := range 3 {
		var args []string
		var here []charts.Setting
		for _, s := range charts.Settings() {
			if names := append([]string{s.Value}, s.Older...); i < len(names) && !slices.Contains(apart, s.Env) {
				args, here = append(args, named(t, names[i:], sampled(s))...), append(here, s)
			}
		}
		r := render(t, "karpenter", args...)
		env := environment(t, r)
		for _, s := range here {
			sample := sampled(s)
			if defaults[s.Env] != s.Default {
				t.Errorf("the default of %s is %q, the table says %q", s.Value, defaults[s.Env], s.Default)
			}
			if env[s.Env] != sample[0] {
				t.Errorf("by name %d of %s: %s is %q, want %q", i, s.Value, s.Env, env[s.Env], sample[0])
			}
			if s.Key == "" {
				continue
			}
			if got := one[corev1.ConfigMap](t, r, "ConfigMap", "karpenter-global-settings").Data[s.Key]; got != sample[0] {
				t.Errorf("by name %d of %s: key %s is %q, want %q", i, s.Value, s.Key, got, sample[0])
			}
		}
	}
	if got := environment(t, render(t, "karpenter", "--set", "shadow=true"))["SHADOW"]; defaults["SHADOW"] != "false" || got != "true" {
		t.Errorf("shadow is told as %q, and is %q by default", got, defaults["SHADOW"])
	}
	gates := environment(t, render(t, "karpenter", "--set", "settings.featureGates.nodeRepair=true", "--set", "settings.featureGates.driftEnabled=true"))["FEATURE_GATES"]
	if !strings.Contains(gates, "NodeRepair=true") || !strings.Contains(gates, "ReservedCapacity=true") || strings.Contains(gates, "rift") {
		t.Errorf("feature gates are %q", gates)
	}
	if got := environment(t, render(t, "karpenter", "--set", "settings.awsFeatureGates.nodeClassCEL=true"))["AWS_FEATURE_GATES"]; got != "NodeClassCEL=true" {
		t.Errorf("feature gates of AWS are %q", got)
	}
	for value, want := range map[string]string{"false": "false", "null": "true"} {
		if got := environment(t, render(t, "karpenter", "--set", "settings.ignoreDRARequests="+value))["IGNORE_DRA_REQUESTS"]; got != want {
			t.Errorf("ignoreDRARequests=%s is told as %q, want %s", value, got, want)
		}
	}
}

// named sets a setting by the first of its names, and by the second as far as both may be there.
func named(t *testing.T, names []string, sample [2]string) []string {
	t.Helper()
	name, value := names[0], sample[0]
	if strings.HasSuffix(name, "Paths") {
		value = "{" + value + "}"
	}
	args := []string{"--set", name + "=" + value}
	switch {
	case len(names) == 1 || strings.HasSuffix(name, "Paths"):
		return args
	case strings.Contains(name, ".log"):
		return append(args, "--set", names[1]+"="+sample[1])
	}
	_, errs, err := helm(t, append([]string{"template", "karpenter", "karpenter", "--set", names[1] + "=" + sample[1]}, args...)...)
	if err == nil || !strings.Contains(errs, name+"="+sample[0]+" and "+names[1]+"="+sample[1]+" say different things") {
		t.Errorf("%s and %s say different things, and helm says %v: %s", name, names[1], err, errs)
	}
	return append(args, "--set", names[1]+"="+sample[0])
}

// A recording has a folder that it can be written to, with room for the copy that is made when the oldest is dropped,
// unless something else is mounted there.
func TestRecordingHasAFolder(t *testing.T) {
	pod := func(args ...string) corev1.PodSpec {
		return one[appsv1.Deployment](t, render(t, "karpenter", args...), "Deployment", "karpenter").Spec.Template.Spec
	}
	if p := pod(); len(p.Volumes)+len(p.Containers[0].VolumeMounts) > 0 {
		t.Errorf("without a recording there are %v and %v", p.Volumes, p.Containers[0].VolumeMounts)
	}
	p := pod("--set", "settings.recordFile=/data/rec/tenon.rec", "--set", "settings.recordLimit=2097152")
	if m := p.Containers[0].VolumeMounts; len(m) != 1 || m[0].MountPath != "/data/rec" || len(p.Volumes) != 1 || p.Volumes[0].Name != m[0].Name || p.Volumes[0].EmptyDir.SizeLimit.Value() != 4<<20 {
		t.Errorf("with a recording there are %v and %v", p.Volumes, m)
	}
	p = pod("--set", "settings.recordFile=/data/tenon.rec", "--set", "controller.extraVolumeMounts[0].name=own", "--set", "controller.extraVolumeMounts[0].mountPath=/data", "--set", "extraVolumes[0].name=own")
	if m := p.Containers[0].VolumeMounts; len(m) != 1 || m[0].Name != "own" || len(p.Volumes) != 1 || p.Volumes[0].Name != "own" {
		t.Errorf("with a volume of the user's there are %v and %v", p.Volumes, m)
	}
}

// Devices may be read where they are planned for, however that is said, and nowhere else.
func TestDevices(t *testing.T) {
	for args, want := range map[string]bool{
		"":                                 false,
		"settings.ignoreDRARequests=true":  false,
		"settings.ignoreDRARequests=false": true,
		"settings.ignoreDRARequests=false,shadow=true":                             true,
		"controller.env[0].name=IGNORE_DRA_REQUESTS,controller.env[0].value=False": true,
		"controller.env[0].name=IGNORE_DRA_REQUESTS,controller.env[0].value=true":  false,
		"controller.env[0].name=ANOTHER,controller.env[0].value=false":             false,
	} {
		may := false
		var set []string
		if args != "" {
			set = []string{"--set", args}
		}
		r := render(t, "karpenter", set...)
		for _, o := range r {
			if o.GetKind() != "ClusterRole" {
				continue
			}
			for _, rule := range one[rbacv1.ClusterRole](t, r, "ClusterRole", o.GetName()).Rules {
				may = may || slices.Contains(rule.Resources, "deviceclasses") && slices.Equal(rule.Verbs, []string{"get", "list", "watch"})
			}
		}
		if may != want {
			t.Errorf("with %q the controller may read DeviceClasses: %t, want %t", args, may, want)
		}
	}
}

// A shadow may read, and nothing else: not even agree with others on who leads.
func TestShadow(t *testing.T) {
	r := render(t, "karpenter", "--set", "shadow=true")
	roles := 0
	for _, o := range r {
		switch o.GetKind() {
		case "Role", "RoleBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Secret":
			t.Errorf("it has the %s %s", o.GetKind(), o.GetName())
		case "ClusterRole":
			roles++
			role := one[rbacv1.ClusterRole](t, r, "ClusterRole", o.GetName())
			for _, rule := range role.Rules {
				if !slices.Equal(rule.Verbs, []string{"get", "list", "watch"}) {
					t.Errorf("%s may %v", o.GetName(), rule)
				}
			}
		}
	}
	if roles != 1 {
		t.Errorf("%d roles, want one", roles)
	}
	if d := one[appsv1.Deployment](t, r, "Deployment", "karpenter"); *d.Spec.Replicas != 1 {
		t.Errorf("%d shadows", *d.Spec.Replicas)
	}
}

// What the chart passes on is what the controller reads.
func TestControllerReadsEverySetting(t *testing.T) {
	read := map[string]bool{}
	help := controller.Command(func(string) string { return "" }, "", "").Flags().FlagUsages()
	for _, m := range regexp.MustCompile(`\[([A-Z_]+)\]`).FindAllStringSubmatch(help, -1) {
		read[m[1]] = true
	}
	told := []string{"KARPENTER_SERVICE", "MEMORY_LIMIT", "CPU_REQUESTS", "LEADER_ELECTION_NAMESPACE"}
	for _, s := range charts.Settings() {
		told = append(told, s.Env)
	}
	for _, name := range told {
		if !read[name] {
			t.Errorf("the controller has no flag for %s", name)
		}
	}
	for name := range environment(t, render(t, "karpenter", "-f", "testdata/everything.yaml")) {
		if !slices.Contains(told, name) && !slices.Contains([]string{"SYSTEM_NAMESPACE", "HTTPS_PROXY"}, name) {
			t.Errorf("the chart sets %s, which is not in the table of settings", name)
		}
	}
}

// A wrong value is refused, and the message names it.
func TestWrongValues(t *testing.T) {
	tests := map[string]struct{ set, says string }{
		"Misspelt":    {"settings.clustername=c", "clustername"},
		"Unknown":     {"settings.aws.region=eu-west-1", "region"},
		"UnknownTop":  {"clusterNames=c", "clusterNames"},
		"Level":       {"logLevel=verbose", "logLevel"},
		"Duration":    {"settings.batchMaxDuration=10", "batchMaxDuration"},
		"Endpoint":    {"settings.clusterEndpoint=abc.eks.amazonaws.com", "clusterEndpoint"},
		"ClusterName": {"settings.clusterName=my cluster", "clusterName"},
		"Replicas":    {"replicas=two", "replicas"},
		"Size":        {"controller.size=huge", "size"},
		"Gate":        {"settings.featureGates.nodeRepairs=true", "nodeRepairs"},
		"Port":        {"webhook.port=0", "port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, errs, err := helm(t, "template", "karpenter", "karpenter", "--set", test.set)
			if err == nil || !strings.Contains(errs, test.says) {
				t.Errorf("--set %s: %v\n%s\nwant an error that names %s", test.set, err, errs, test.says)
			}
		})
	}
	for _, name := range charts.WithoutEffect() {
		for _, value := range []string{"true", "10s", "debug", "ip-name", "8001", "null"} {
			if _, _, err := helm(t, "template", "karpenter", "karpenter", "--set", name+"="+value); err == nil {
				name = ""
				break
			}
		}
		if name != "" {
			t.Errorf("%s is refused", name)
		}
	}
}

// The pods do not keep a release from becoming ready on one small node, nor run on nodes that they made.
func TestPodsFitOneSmallNode(t *testing.T) {
	d := one[appsv1.Deployment](t, render(t, "karpenter"), "Deployment", "karpenter")
	pod := d.Spec.Template.Spec
	cpu := pod.Containers[0].Resources.Requests.Cpu().MilliValue() * int64(*d.Spec.Replicas)
	if left := int64(1930 - 25 - 100 - 200); cpu > left { // an m5.large without its daemons and CoreDNS
		t.Errorf("%d replicas want %dm of cpu, an m5.large has %dm left", *d.Spec.Replicas, cpu, left)
	}
	if len(pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		t.Error("two replicas may not share a node, so on one node the second stays pending")
	}
	if c := pod.TopologySpreadConstraints; len(c) != 1 || c[0].WhenUnsatisfiable != corev1.ScheduleAnyway || len(c[0].LabelSelector.MatchLabels) != 2 {
		t.Errorf("the spread is %v, want zones, softly, of this release", c)
	}
	own := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	want := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: "karpenter.sh/provisioner-name", Operator: corev1.NodeSelectorOpDoesNotExist},
		{Key: "karpenter.sh/nodepool", Operator: corev1.NodeSelectorOpDoesNotExist},
	}}}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("nodes: -want +got\n%s", diff)
	}
	if got := d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue(); got != 1 {
		t.Errorf("maxUnavailable is %d, want 1", got)
	}
}

// A webhook that does not answer holds no request up.
func TestWebhooksDoNotBlock(t *testing.T) {
	r := render(t, "karpenter")
	check := func(name string, policy *admissionv1.FailurePolicyType, seconds *int32) {
		if policy == nil || *policy != admissionv1.Ignore || seconds == nil || *seconds != 2 {
			t.Errorf("%s: failure policy %v after %v s, want Ignore after 2", name, policy, seconds)
		}
	}
	for _, w := range one[admissionv1.ValidatingWebhookConfiguration](t, r, "ValidatingWebhookConfiguration", "validation.webhook.karpenter.sh").Webhooks {
		check(w.Name, w.FailurePolicy, w.TimeoutSeconds)
	}
	for _, w := range one[admissionv1.MutatingWebhookConfiguration](t, r, "MutatingWebhookConfiguration", "defaulting.webhook.karpenter.sh").Webhooks {
		check(w.Name, w.FailurePolicy, w.TimeoutSeconds)
	}
}

func TestPodsOfAnotherReleaseName(t *testing.T) {
	out, errs, err := helm(t, "template", "prod", "karpenter", "--namespace", "kube-system")
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	for _, want := range []string{"name: prod-karpenter-cert", "name: prod-karpenter-core", "app.kubernetes.io/instance: prod", "namespace: kube-system"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Both charts hold the CRDs of the API and nothing else.
func TestCRDs(t *testing.T) {
	spec := map[string]any{}
	for _, text := range crds.All() {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			t.Fatal(err)
		}
		spec[o.GetName()] = o.Object["spec"]
	}
	for _, old := range []string{"provisioners.karpenter.sh", "awsnodetemplates.karpenter.k8s.aws"} {
		if spec[old] == nil {
			t.Errorf("no %s", old)
		}
	}
	for name, r := range map[string]rendered{
		"karpenter":     slices.DeleteFunc(render(t, "karpenter", "--include-crds"), func(o unstructured.Unstructured) bool { return o.GetKind() != "CustomResourceDefinition" }),
		"karpenter-crd": render(t, "karpenter-crd"),
	} {
		got := map[string]any{}
		for _, o := range r {
			got[o.GetName()] = o.Object["spec"]
			if kept := o.GetAnnotations()["helm.sh/resource-policy"]; name == "karpenter-crd" && kept != "keep" {
				t.Errorf("%s would go with the release, and all pools with it", o.GetName())
			}
		}
		if diff := cmp.Diff(spec, got); diff != "" {
			t.Errorf("%s: -api +chart\n%s", name, diff)
		}
	}
}

// Dashboards and alerts ask Prometheus, in its own language, for metrics and labels that the code writes.
func TestQueries(t *testing.T) {
	labels := map[string][]string{}
	for _, m := range metric.Table(nil) {
		labels[m.Name] = m.Labels
	}
	queries := queries(t)
	if len(queries) < 15 {
		t.Fatalf("found only %q", queries)
	}
	for i, asks := range parsed(t, queries) {
		if asks.Error != "" {
			t.Errorf("%s: %s", queries[i], asks.Error)
			continue
		}
		var written []string
		for _, name := range asks.Metrics {
			has, ok := labels[name]
			if !ok {
				has, ok = labels[strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")]
			}
			if !ok {
				t.Errorf("%s: there is no metric %s", queries[i], name)
			}
			written = append(written, has...)
		}
		for _, name := range asks.Labels {
			if name != "le" && !slices.Contains(written, name) {
				t.Errorf("%s: no metric in it has the label %s, they have %v", queries[i], name, written)
			}
		}
	}
}

// asks is what a query asks for.
type asks struct {
	Error           string
	Metrics, Labels []string
}

// parsed has Prometheus' own parser read queries. It is a program beside the
// product, which would have to require all of Prometheus for it.
func parsed(t *testing.T, queries []string) []asks {
	t.Helper()
	in, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	// Grafana fills this in.
	in = bytes.ReplaceAll(in, []byte("$__rate_interval"), []byte("5m"))
	cmd := exec.CommandContext(t.Context(), "go", "run", "-C", "../test/upstream/promql", ".")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), t.Output()
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []asks
	if err := json.Unmarshal(text, &out); err != nil || len(out) != len(queries) {
		t.Fatalf("%d queries gave %s: %v", len(queries), text, err)
	}
	return out
}

// queries are all that the chart's dashboards and alerts ask.
func queries(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, o := range render(t, "karpenter", "--set", "prometheusRule.enabled=true,dashboards.enabled=true") {
		switch o.GetKind() {
		case "PrometheusRule":
			groups, _, err := unstructured.NestedSlice(o.Object, "spec", "groups")
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, expressions(groups)...)
		case "ConfigMap":
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			for name, text := range data {
				var board any
				if !strings.HasSuffix(name, ".json") {
					continue
				}
				if err := json.Unmarshal([]byte(text), &board); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				out = append(out, expressions(board)...)
			}
		}
	}
	return out
}

// expressions are the values of all keys called expr.
func expressions(in any) []string {
	var out []string
	switch in := in.(type) {
	case []any:
		for _, v := range in {
			out = append(out, expressions(v)...)
		}
	case map[string]any:
		for k, v := range in {
			if text, ok := v.(string); ok && k == "expr" {
				out = append(out, text)
			}
			out = append(out, expressions(v)...)
		}
	}
	return out
}

// The notes say what is missing and what changes nothing.
func TestNotes(t *testing.T) {
	notes := func(args ...string) string {
		out, errs, err := helm(t, append([]string{"install", "karpenter", "karpenter", "--dry-run=client", "--namespace", "karpenter"}, args...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		_, text, _ := strings.Cut(out, "NOTES:")
		return text
	}
	if text := notes(); !strings.Contains(text, "THE CLUSTER HAS NO NAME") {
		t.Errorf("nothing is said of the missing name:\n%s", text)
	}
	args := []string{"--set", "clusterName=c"}
	for _, name := range charts.WithoutEffect() {
		value, known := map[string]string{
			"settings.aws.tags": "{}", "settings.aws.nodeNameConvention": `"ip-name"`, "webhook.logLevel": `"error"`, "logConfig.logLevel.webhook": `"error"`, "webhook.metrics.port": "8001", "postInstallHook": `{"image": {"tag": "1.30"}}`,
			"settings.assumeRoleARN": `"arn"`, "settings.aws.assumeRoleARN": `"arn"`,
		}[name]
		switch {
		case known:
		case strings.HasSuffix(name, "Interval") || strings.HasSuffix(name, "Duration"):
			value = `"1m"`
		default:
			value = "true"
		}
		args = append(args, "--set-json", name+"="+value)
	}
	text := notes(args...)
	_, said, _ := strings.Cut(text, "change nothing here: ")
	said, _, _ = strings.Cut(said, "\n")
	for _, name := range charts.WithoutEffect() {
		if !slices.Contains(strings.Split(said, ", "), name) {
			t.Errorf("the notes do not say that %s changes nothing, only: %s", name, said)
		}
	}
	if strings.Contains(text, "NO NAME") {
		t.Errorf("the name was given:\n%s", text)
	}
	if text := notes("--set", "settings.clusterName=c,shadow=true"); strings.Contains(text, "delete nodepools") || !strings.Contains(text, "changes nothing") {
		t.Errorf("who uninstalls a shadow must leave the pools alone:\n%s", text)
	}
	if plain := notes("--set", "settings.clusterName=c"); strings.Contains(plain, "change nothing") {
		t.Errorf("nothing is wrong, but the notes say:\n%s", fmt.Sprint(plain))
	}
}
