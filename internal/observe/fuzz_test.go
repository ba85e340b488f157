package observe_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// named reads an object as an API server would have stored it: with a name.
func named[T any, P interface {
	*T
	metav1.Object
}](data []byte) (P, bool) {
	o := P(new(T))
	return o, json.Unmarshal(data, o) == nil && o.GetName() != ""
}

// accepted fails the test if what was observed without a problem is refused.
func accepted(t *testing.T, data []byte, err error) {
	t.Helper()
	if err != nil && !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("observed without a problem, yet refused: %v\n%s", err, data)
	}
}

// Whatever a pool says, it is observed, and what has no problems the Builder accepts.
func FuzzPool(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"n"},"spec":{"limits":{"cpu":"-1"},"weight":101,"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"d"},"expireAfter":"720h","terminationGracePeriod":"-1s","requirements":[{"key":"a","operator":"Gt","values":["x"],"minValues":3}],"taints":[{"key":"k","effect":"NoExecute"}]}}}}`,
		`{"metadata":{"name":"n","annotations":{"karpenter.sh/do-not-disrupt":"5m"}},"spec":{"replicas":3,"disruption":{"consolidateAfter":"Never","consolidationPolicy":"WhenEmpty","budgets":[{"nodes":"10%","schedule":"0 9 * * mon-fri","duration":"8h","reasons":["Empty"]}]}}}`,
		`{"metadata":{"name":"p"},"spec":{"ttlSecondsAfterEmpty":30,"ttlSecondsUntilExpired":-5,"limits":{"resources":{"cpu":"1e9","memory":"1Ei"}},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}],"providerRef":{"name":"x"},"kubeletConfiguration":{"maxPods":-1,"systemReserved":{"cpu":"x"}},"provider":{"instanceTypes":["m5.large"]},"consolidation":{"enabled":true}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, ok := named[v1.NodePool](data); ok {
			if p := observe.NodePool(o); p.NotReady == "" {
				accepted(t, data, world.NewBuilder().SetPool(p))
			}
		}
		if o, ok := named[v1alpha5.Provisioner](data); ok {
			_, _ = observe.ClassOf(o), observe.KubeletOf(o)
			if p := observe.Provisioner(o); p.NotReady == "" {
				accepted(t, data, world.NewBuilder().SetPool(p))
			}
		}
		if o, ok := named[v1alpha1.NodeOverlay](data); ok {
			if _, err := observe.NodeOverlay(o); err != nil && err.Error() == "" {
				t.Error("refused without a word")
			}
		}
	})
}

// Whatever a machine's objects say, they are observed and accepted.
func FuzzNode(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"n","labels":{"karpenter.sh/nodepool":"p","topology.kubernetes.io/zone":"z"},"creationTimestamp":"2024-01-01T00:00:00Z"},"spec":{"providerID":"aws:///z/i-1","taints":[{"key":"k","effect":"NoSchedule"},{"key":""}]},"status":{"allocatable":{"cpu":"-4","memory":"1Ei","pods":"1e30"},"conditions":[{"type":"Ready","status":"Unknown","reason":"\ufffd"}]}}`,
		`{"metadata":{"name":"c","annotations":{"karpenter.sh/do-not-disrupt":"-1s","tenon.sh/pods":"a/b,,c"},"labels":{"karpenter.sh/nodepool":"p"}},"spec":{"requirements":[{"key":"node.kubernetes.io/instance-type","operator":"In","values":["m5.large","m5.large"]},{"key":"a","operator":"Lt","values":["1","2"]}],"nodeClassRef":{"kind":"EC2NodeClass","name":"d"},"resources":{"requests":{"cpu":"1"}},"expireAfter":"Never","terminationGracePeriod":"1h"},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"5"},"providerID":"x","nodeName":"n","conditions":[{"type":"Launched","status":"True"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, ok := named[corev1.Node](data); ok {
			accepted(t, data, world.NewBuilder().SetNode(observe.Node(o, nil)))
		}
		if o, ok := named[v1.NodeClaim](data); ok {
			accepted(t, data, world.NewBuilder().SetClaim(observe.Claim(o)))
		}
	})
}

// Whatever the objects around pods say, they are observed and accepted.
func FuzzOthers(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"d","namespace":"a"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"-1"},"limits":{"memory":"1Gi"}},"ports":[{"hostPort":-1}]}],"overhead":{"cpu":"1"},"nodeSelector":{"":""}}}}}`,
		`{"metadata":{"name":"b","namespace":"a"},"spec":{"minAvailable":"50%","maxUnavailable":-1,"selector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}},"status":{"disruptionsAllowed":-3}}`,
		`{"metadata":{"name":"v","namespace":"a"},"spec":{"volumeName":"v","storageClassName":"","accessModes":["ReadWriteOnce"],"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In"}]},{}]}},"csi":{"driver":"d"}},"allowedTopologies":[{"matchLabelExpressions":[{"key":"z","values":[""]}]}],"volumeBindingMode":"Immediate"}`,
		`{"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","allocatable":{"count":-1}},{"name":"d","topologyKeys":[""]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, ok := named[appsv1.DaemonSet](data); ok {
			if d, ok := observe.DaemonSet(o); ok && len(d.Pod.Problems) == 0 {
				accepted(t, data, world.NewBuilder().SetDaemonSet(d))
			}
		}
		if o, ok := named[policyv1.PodDisruptionBudget](data); ok {
			accepted(t, data, world.NewBuilder().SetGuard(observe.Guard(o)))
		}
		if o, ok := named[corev1.Namespace](data); ok {
			accepted(t, data, world.NewBuilder().SetNamespace(observe.Namespace(o)))
		}
		if o, ok := named[storagev1.CSINode](data); ok {
			accepted(t, data, world.NewBuilder().SetNode(observe.Node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: o.Name}}, o)))
		}
		c, isClaim := named[corev1.PersistentVolumeClaim](data)
		v, isVolume := named[corev1.PersistentVolume](data)
		s, isClass := named[storagev1.StorageClass](data)
		if !isClaim || !isVolume || !isClass {
			return
		}
		// A pod that mounts all of them: the volume, and one that is still to be made.
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: c.Namespace}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}},
		}}}
		find := observe.Volumes{
			Claim:  func(world.Key) (observe.VolumeClaim, bool) { return observe.ReadVolumeClaim(c), true },
			Volume: func(string) (observe.PersistentVolume, bool) { return observe.ReadPersistentVolume(v), true },
			Class:  func(string) (observe.StorageClass, bool) { return observe.ReadStorageClass(s), true },
		}
		if pod := find.Bind(observe.Pod(p), observe.Mounts(p)); len(pod.Problems) == 0 {
			accepted(t, data, world.NewBuilder().SetPod(pod))
		}
	})
}

// A quantity that is read is one of Kubernetes', and read as there.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "250m", "1.5Gi", "1e3", "-1", "0.5Ki", "1E", "100n", "+1", ".5", "5.", "1_000", "1e-3", "9223372036854775807"} {
		f.Add(s)
	}
	endless := regexp.MustCompile(`[eE][+-]?[0-9]{4,}`)
	f.Fuzz(func(t *testing.T, s string) {
		if endless.MatchString(s) {
			if _, err := amount.Parse(s); err == nil {
				t.Errorf("%q is read", s)
			}
			return // Kubernetes' own reading of 1E36854253685363 does not end
		}
		want, err := resource.ParseQuantity(s)
		got, own := amount.Parse(s)
		if own == nil && err != nil {
			t.Fatalf("%q: Kubernetes refuses it, %v, and we read %d", s, err, got)
		}
		if own != nil {
			return // to Kubernetes a sign alone is zero, and exponents have no end; to us they are slips
		}
		l := observe.Amounts(corev1.ResourceList{"example.com/x": want})
		if seen := l.Value("example.com/x"); seen != max(got, 0) && min(seen, got) < math.MaxInt64-amount.Unit { // a negative amount is none, and the last unit may saturate
			t.Errorf("%q is %d in an object and %d as text", s, seen, got)
		}
	})
}
