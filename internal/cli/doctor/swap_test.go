package doctor

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// karpenter is a Deployment as Karpenter's chart makes it.
func karpenter(namespace string, args []string, env ...corev1.EnvVar) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": "kp"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "karpenter", Labels: labels}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "controller", Image: "public.ecr.aws/karpenter/controller:1.14.1", Args: args, Env: env}}
	return d
}

// released is the Secret in which Helm keeps a release with these values.
func released(t *testing.T, values map[string]any) *corev1.Secret {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if err := json.NewEncoder(w).Encode(map[string]any{"name": "kp", "config": values}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "sh.helm.release.v1.kp.v1", Labels: map[string]string{"owner": "helm", "name": "kp", "status": "deployed"}},
		Data:       map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(zipped.Bytes()))},
	}
}

func TestBeforeSwap(t *testing.T) {
	set := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	from := func(name, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "karpenter-global-settings"}, Key: key}}}
	}
	global := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-global-settings"}, Data: map[string]string{"aws.clusterName": "old", "batchIdleDuration": "2s"}}
	pod := func(name, node string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
		if change != nil {
			change(p)
		}
		return p
	}
	yes := true
	owned := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "1", Controller: &yes}}
	}
	quiet := asked{claims: []world.Claim{{Name: "c", Node: "n", Initialized: true}}}
	same := func(more ...string) []string {
		return append([]string{
			"ok controller: kube-system/karpenter runs public.ecr.aws/karpenter/controller:1.14.1",
			"ok settings: flags and variables of the controller mean the same",
			"ok values: the chart takes all values of the Helm release kp",
			"ok nodes: 1 NodeClaim, none on the way in or out; none drifts for the swap: hashes are rewritten",
		}, more...)
	}
	for name, c := range map[string]struct {
		why     string
		objects []client.Object
		asked   asked
		want    []string
	}{
		"Same": {
			"Nothing differs.",
			[]client.Object{karpenter("kube-system", nil, set("CLUSTER_NAME", "demo")), released(t, map[string]any{"settings": map[string]any{"clusterName": "demo"}}), pod("a", "n", owned), pod("mirror", "n", func(p *corev1.Pod) {
				p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
			}), pod("elsewhere", "m", nil)},
			quiet,
			same("ok pods: none is treated otherwise"),
		},
		"Pods": {
			"Some would be treated otherwise.",
			[]client.Object{karpenter("kube-system", nil, set("CLUSTER_NAME", "demo")), released(t, nil), pod("a", "n", nil), pod("done", "n", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), pod("may", "n", func(p *corev1.Pod) {
				p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "false"}
			}), pod("gpu", "", func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} })},
			quiet,
			same("warning pods: 1 pod without a controller: Karpenter evicts such pods, Tenon keeps their nodes (d/a)", "warning pods: 1 pod waiting with resource claims: no node is bought for devices (d/gpu)"),
		},
		"Settings": {
			"Each setting that is not followed is named.",
			[]client.Object{karpenter("default", []string{"--later=1"}, set("CLUSTER_NAME", "demo"), set("FEATURE_GATES", "NextThing=true"), corev1.EnvVar{Name: "HIDDEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{}}})},
			asked{},
			[]string{
				"warning controller: default/karpenter runs public.ecr.aws/karpenter/controller:1.14.1, and Tenon looks for Karpenter's Lease in kube-system and karpenter only",
				"warning settings: feature gates that this release does not know are passed over, gates: NextThing",
				"warning settings: flags that this release does not know are passed over, flags: --later",
				"unclear settings: variables from Secrets were not read: HIDDEN",
				`unclear values: the values of the Helm release "kp" were not read: there is none that Helm has deployed`,
				"ok nodes: 0 NodeClaims, none on the way in or out; none drifts for the swap: hashes are rewritten",
				"ok pods: none is treated otherwise",
			},
		},
		"Refused": {
			"What would keep the controller from starting is an error.",
			[]client.Object{karpenter("kube-system", []string{"--reserved-enis=-1"}, set("CLUSTER_NAME", "demo"), set("PREFERENCE_POLICY", "Sometimes")), released(t, nil)},
			quiet,
			[]string{
				same()[0],
				`error settings: Tenon refuses to start: invalid PREFERENCE_POLICY "Sometimes": write Respect or Ignore, here or with --preference-policy`,
				"error settings: Tenon refuses to start: --reserved-enis is -1, want 0 or more",
				same()[2], same()[3], "ok pods: none is treated otherwise",
			},
		},
		"Values": {
			"So is a value that the chart does not know.",
			[]client.Object{karpenter("kube-system", nil, set("CLUSTER_NAME", "demo")), released(t, map[string]any{"controller": map[string]any{"sidecar": map[string]any{"a": 1}, "image": map[string]any{"repository": "public.ecr.aws/karpenter/controller", "tag": "1.14.1"}}, "initContainers": map[string]any{}, "webhook": map[string]any{"logLevel": "error"}, "next": true})},
			quiet,
			[]string{
				same()[0], same()[1],
				"error values: the chart refuses the value controller.sidecar", "error values: the chart refuses the value next",
				"error values: the chart refuses controller.image, which names Karpenter's own, public.ecr.aws/karpenter/controller", "warning values: webhook.logLevel is accepted and changes nothing",
				same()[3], "ok pods: none is treated otherwise",
			},
		},
		"Old": {
			"Releases before v0.32 have settings in a ConfigMap.",
			[]client.Object{global, karpenter("kube-system", nil, from("BATCH_IDLE_DURATION", "batchIdleDuration")), released(t, nil)},
			quiet,
			same("ok pods: none is treated otherwise"),
		},
		"Moving": {
			"It is better to wait while nodes come or go, and to give labels their values.",
			[]client.Object{karpenter("kube-system", nil, set("CLUSTER_NAME", "demo")), released(t, nil)},
			asked{
				claims: []world.Claim{{Name: "c", Initialized: true, Deleting: true}, {Name: "d"}},
				buyers: []buyer{{pool: world.Pool{
					ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Labels: map[string]string{"said": "x"},
					Requirements: label.SetOf(label.Any("team"), label.Any("said"), label.Any(v1.LabelZone)),
				}}},
			},
			append(same()[:3], "warning nodes: 2 NodeClaims on the way in or out: what Karpenter means to replace is in its memory alone, so nodes that were bought instead may stay until they are found empty",
				"warning NodePool/p: its requirement team Exists names no value: Karpenter gives nodes a random number for it, Tenon buys none for pods that select it",
				"ok pods: none is treated otherwise"),
		},
		"None": {
			"There is no controller.", nil, quiet,
			append([]string{"warning controller: there is no Deployment with the label app.kubernetes.io/name=karpenter: the settings of a controller that runs elsewhere are not looked at"}, same("ok pods: none is treated otherwise")[3:]...),
		},
		"Ours": {
			"It is swapped already.",
			[]client.Object{karpenter("kube-system", []string{"controller"})},
			quiet,
			[]string{"ok controller: kube-system/karpenter is Tenon's already"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reads := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(c.objects...).Build()
			r, err := runningIn(t.Context(), reads)
			if err != nil {
				t.Fatal(err)
			}
			if name == "Old" && r.env["CLUSTER_NAME"] != "old" {
				t.Errorf("the name of the cluster is %q, want old", r.env["CLUSTER_NAME"])
			}
			var got []string
			for _, f := range swap(t.Context(), reads, r, c.asked) {
				got = append(got, fmt.Sprintf("%s %s: %s", f.Level, f.Check, f.Says))
			}
			if diff := cmp.Diff(strings.Join(c.want, "\n"), strings.Join(got, "\n")); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}
