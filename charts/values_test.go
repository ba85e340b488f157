package charts_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// other are values that the ones of Karpenter's chart may be given instead, as JSON.
func other() map[string]string {
	const some = `{"some": "thing"}`
	return map[string]string{
		"nameOverride": `"other"`, "fullnameOverride": `"other"`, "additionalLabels": some, "additionalAnnotations": some, "imagePullPolicy": `"Always"`,
		"imagePullSecrets": `[{"name": "some"}]`, "service.annotations": some, "serviceAccount.create": "false", "serviceAccount.name": `"other"`,
		"serviceAccount.annotations": some, "additionalClusterRoleRules": `[{"apiGroups": ["some"], "resources": ["things"], "verbs": ["get"]}]`,
		"serviceMonitor.enabled": "true", "serviceMonitor.additionalLabels": some, "serviceMonitor.relabelings": "[" + some + "]",
		"serviceMonitor.metricRelabelings": "[" + some + "]", "serviceMonitor.endpointConfig": some, "serviceMonitor.sampleLimit": "7",
		"replicas": "3", "revisionHistoryLimit": "3", "strategy.rollingUpdate.maxUnavailable": "2", "podLabels": some, "podAnnotations": some,
		"podDisruptionBudget.name": `"other"`, "podDisruptionBudget.maxUnavailable": "2", "podSecurityContext.fsGroup": "7",
		"podSecurityContext.seccompProfile.type": `"Unconfined"`, "priorityClassName": `"other"`, "terminationGracePeriodSeconds": "7",
		"hostNetwork": "true", "schedulerName": `"other"`, "dnsPolicy": `"Default"`, "dnsConfig": `{"nameservers": ["10.0.0.1"]}`,
		"initContainers": `[{"name": "first"}]`, `nodeSelector.kubernetes\.io/os`: `"windows"`,
		"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": `[{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]`,
		"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution":                `[{"topologyKey": "rack"}]`,
		"topologySpreadConstraints": `[{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}]`, "tolerations": `[{"operator": "Exists"}]`,
		"extraVolumes": `[{"name": "v", "emptyDir": {}}]`, "controller.containerName": `"other"`, "controller.image.repository": `"mine/tenon"`,
		"controller.image.tag": `"7"`, "controller.image.digest": `"sha256:7"`, "controller.env": `[{"name": "A", "value": "b"}]`,
		"controller.envFrom": `[{"secretRef": {"name": "s"}}]`, "controller.securityContext.appArmorProfile": `{"type": "Unconfined"}`,
		"controller.securityContext.seLinuxOptions": `{"level": "s0"}`, "controller.securityContext.seccompProfile": `{"type": "Unconfined"}`,
		"controller.resources": `{"requests": {"cpu": "7"}}`, "controller.extraVolumeMounts": `[{"name": "v", "mountPath": "/v"}]`,
		"controller.sidecarContainer": `[{"name": "side"}]`, "controller.metrics.port": "7", "controller.healthProbe.port": "7",
		"logLevel": `"debug"`, "logOutputPaths": `["/log"]`, "logErrorOutputPaths": `["/log"]`,
		"settings.batchMaxDuration": `"7s"`, "settings.batchIdleDuration": `"7s"`, "settings.preferencePolicy": `"Ignore"`, "settings.minValuesPolicy": `"BestEffort"`,
		"settings.clusterCABundle": `"Yw=="`, "settings.clusterName": `"other"`, "settings.clusterEndpoint": `"https://a"`, "settings.isolatedVPC": "true",
		"settings.eksControlPlane": "true", "settings.vmMemoryOverheadPercent": "0.07", "settings.interruptionQueue": `"q"`, "settings.enableZonalShift": "true",
		"settings.reservedENIs": `"7"`, "settings.ignoreDRARequests": "false", "settings.disableClusterStateObservability": "true", "settings.disableDryRun": "true",
		"settings.amiRefreshInterval": `"7m"`, "settings.subnetRefreshInterval": `"7m"`, "settings.securityGroupRefreshInterval": `"7m"`,
		"settings.featureGates.nodeRepair": "true", "settings.featureGates.nodeOverlay": "true", "settings.featureGates.reservedCapacity": "false",
		"settings.featureGates.spotToSpotConsolidation": "true", "settings.featureGates.staticCapacity": "true", "settings.featureGates.capacityBuffer": "true",
		"settings.featureGates.podDeletionCostManagement": "true", "settings.awsFeatureGates.nodeClassCEL": "true",
	}
}

// needed are values that others need, to show.
func needed() map[string]string {
	return map[string]string{
		"serviceMonitor.additionalLabels": "serviceMonitor.enabled=true", "serviceMonitor.relabelings": "serviceMonitor.enabled=true",
		"serviceMonitor.metricRelabelings": "serviceMonitor.enabled=true", "serviceMonitor.endpointConfig": "serviceMonitor.enabled=true",
		"serviceMonitor.sampleLimit": "serviceMonitor.enabled=true", "controller.sidecarVolumeMounts": "controller.sidecarContainer[0].name=side",
	}
}

// installed is what `helm install` would apply and say.
func installed(t *testing.T, args ...string) (manifests, notes string) {
	t.Helper()
	out, errs, err := helm(t, append([]string{"install", "karpenter", "karpenter", "--dry-run=client", "--namespace", "karpenter"}, args...)...)
	if err != nil {
		t.Fatalf("helm install %q: %v\n%s", args, err, errs)
	}
	if errs != "" {
		t.Errorf("helm install %q says %s", args, errs)
	}
	_, out, _ = strings.Cut(out, "MANIFEST:")
	manifests, notes, _ = strings.Cut(out, "NOTES:")
	return manifests, notes
}

// leaves are the paths of values that hold no further ones, as --set has them.
func leaves(prefix string, of map[string]any) []string {
	var out []string
	for name, value := range of {
		path := prefix + strings.ReplaceAll(name, ".", `\.`)
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 {
			out = append(out, leaves(path+".", inner)...)
			continue
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// Every value of Karpenter's chart changes what is installed, or the notes name it as one that changes nothing.
func TestEveryValueOfKarpentersChart(t *testing.T) {
	const file = "testdata/karpenter-v1.14.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	others, needs := other(), needed()
	others["controller.sidecarVolumeMounts"] = `[{"name": "v", "mountPath": "/v"}]`
	paths := leaves("", values)
	if diff := cmp.Diff(paths, slices.Sorted(maps.Keys(others))); diff != "" {
		t.Fatalf("-values +those of the table\n%s", diff)
	}
	image := "controller.image=" // the values name Karpenter's
	base := []string{"-f", file, "--set-json", `settings.clusterName="c"`, "--set-json", image + `{"repository": "tenon-sh/tenon", "tag": "1", "digest": ""}`}
	plain, _ := installed(t, base...)
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			args, before := slices.Clone(base), plain
			if need, ok := needs[path]; ok {
				args = append(args, "--set", need)
				before, _ = installed(t, args...)
			}
			after, notes := installed(t, append(args, "--set-json", path+"="+others[path])...)
			if before == after && !strings.Contains(notes, path) {
				t.Errorf("%s=%s changes nothing, and the notes do not say so:\n%s", path, others[path], notes)
			}
		})
	}
}

// Karpenter's own image is refused: a values file that has all values would have it run by this chart.
func TestKarpentersImage(t *testing.T) {
	for _, args := range [][]string{{"-f", "testdata/karpenter-v1.14.yaml"}, {"--set", "controller.image=public.ecr.aws/karpenter/controller:v0.27.3"}} {
		_, errs, err := helm(t, append([]string{"template", "karpenter", "karpenter"}, args...)...)
		if err == nil || !strings.Contains(errs, "leave controller.image out") {
			t.Errorf("%q: %v: %s", args, err, errs)
		}
	}
}

// With controller.image=null, by which Helm takes Karpenter's out that a file has, it is the chart's own.
func TestImageThatIsTakenOut(t *testing.T) {
	r := render(t, "karpenter", "-f", "testdata/karpenter-v1.14.yaml", "--set", "controller.image=null")
	want := one[appsv1.Deployment](t, render(t, "karpenter"), "Deployment", "karpenter").Spec.Template.Spec.Containers[0].Image
	if got := one[appsv1.Deployment](t, r, "Deployment", "karpenter").Spec.Template.Spec.Containers[0].Image; got != want {
		t.Errorf("the image is %q, want %q", got, want)
	}
}

// Rules about pods that do not say about which are about the pods of the release, and a securityContext has no empty parts, which the API server refuses.
func TestDefaultsOfKarpentersChart(t *testing.T) {
	r := render(t, "karpenter", "-f", "testdata/karpenter-v1.14.yaml", "--set", "controller.image=tenon:1", "--set-json",
		`affinity.podAffinity={"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "rack"}}, {"weight": 2, "podAffinityTerm": {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "dns"}}}}]}`,
		"--set-json", `topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "dns"}}}]`)
	pod := one[appsv1.Deployment](t, r, "Deployment", "karpenter").Spec.Template
	own, dns := &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": "karpenter"}}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "dns"}}
	want := &corev1.Affinity{
		NodeAffinity:    pod.Spec.Affinity.NodeAffinity,
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname", LabelSelector: own}}},
		PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "rack", LabelSelector: own}}, {Weight: 2, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "rack", LabelSelector: dns}},
		}},
	}
	if diff := cmp.Diff(want, pod.Spec.Affinity); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: dns}}, pod.Spec.TopologySpreadConstraints); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if s := pod.Spec.Containers[0].SecurityContext; s.SeccompProfile != nil || s.AppArmorProfile != nil || s.SELinuxOptions != nil || !*s.RunAsNonRoot {
		t.Errorf("the securityContext is %+v", s)
	}
}

// Charts of v0.32 to v1.0 had the log below logConfig, followed where that is enabled, and a port of metrics for the webhook.
func TestLogOfV1beta1Charts(t *testing.T) {
	const file = "testdata/karpenter-v0.37.yaml"
	set := []string{"-f", file, "--set", "logConfig.logLevel.controller=debug,logConfig.outputPaths={/log},logConfig.errorOutputPaths={/errors}"}
	for enabled, want := range map[string][4]string{"false": {"info", "console", "stdout", "stderr"}, "true": {"debug", "json", "/log", "/errors"}} {
		env := environment(t, render(t, "karpenter", append(set, "--set", "logConfig.enabled="+enabled)...))
		if got := [4]string{env["LOG_LEVEL"], env["LOG_ENCODING"], env["LOG_OUTPUT_PATHS"], env["LOG_ERROR_OUTPUT_PATHS"]}; got != want {
			t.Errorf("logConfig.enabled=%s: the log is %q, want %q", enabled, got, want)
		}
	}
	_, notes := installed(t, "-f", file)
	if !strings.Contains(notes, "change nothing here: settings.assumeRoleARN, settings.assumeRoleDuration, webhook.metrics.port, logConfig.logLevel.webhook, postInstallHook") {
		t.Errorf("the notes say\n%s", notes)
	}
}

// The chart of the kinds had a webhook that converted, which is told to change nothing.
func TestWebhookOfKinds(t *testing.T) {
	for _, args := range [][]string{nil, {"--set", "webhook.enabled=true,webhook.serviceName=karpenter,webhook.serviceNamespace=kube-system,webhook.port=8443"}} {
		out, errs, err := helm(t, append([]string{"install", "karpenter-crd", "karpenter-crd", "--dry-run=client"}, args...)...)
		if err != nil || strings.Contains(out, "changes nothing here") != (args != nil) {
			_, notes, _ := strings.Cut(out, "NOTES:")
			t.Errorf("%q: %v: %s\n%s", args, err, errs, notes)
		}
	}
}
