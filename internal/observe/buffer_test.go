package observe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/world"
)

func list(cpu, memory string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if text != "" {
			out[name] = resource.MustParse(text)
		}
	}
	return out
}

func template() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"}},
		Spec: corev1.PodSpec{
			NodeName:          "n1",
			PriorityClassName: "system-cluster-critical",
			Containers:        []corev1.Container{{Name: "web", Resources: corev1.ResourceRequirements{Requests: list("1", "512Mi")}}},
			Volumes: []corev1.Volume{
				{Name: "claimed", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
}

func TestBufferSize(t *testing.T) {
	for name, c := range map[string]struct {
		why      string
		spec     v1beta1.CapacityBufferSpec
		replicas *int32 // of the workload
		want     int
		bounded  bool
	}{
		"Replicas":             {spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(3))}, want: 3},
		"Nothing":              {why: "a buffer that says no size has none", want: 0},
		"Percentage":           {spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(20))}, replicas: new(int32(10)), want: 2},
		"RoundedUp":            {spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(1))}, replicas: new(int32(10)), want: 1},
		"MoreThanAll":          {spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(250))}, replicas: new(int32(2)), want: 5},
		"LargerCounts":         {why: "as Karpenter's code has it", spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(5)), Percentage: new(int32(80))}, replicas: new(int32(10)), want: 8},
		"TemplateHasNoShare":   {why: "a template has no replicas to take a share of", spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(1)), Percentage: new(int32(500))}, want: 1},
		"Limits":               {spec: v1beta1.CapacityBufferSpec{Limits: list("5", "")}, want: 5},
		"TightestLimit":        {spec: v1beta1.CapacityBufferSpec{Limits: list("5", "1Gi")}, want: 2},
		"LimitsBoundReplicas":  {spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(10)), Limits: list("3", "")}, want: 3},
		"LimitBelowOnePod":     {spec: v1beta1.CapacityBufferSpec{Limits: list("500m", "")}, want: 0},
		"LimitOfWhatIsNotUsed": {why: "it binds nothing", spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(2)), Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}, want: 2},
		"ScaledToZero": {
			why:  "a workload without pods does not get the largest buffer that its limits allow",
			spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(20)), Limits: list("100", "")}, replicas: new(int32(0)), want: 0,
		},
		"Negative": {why: "the kind may have been installed without our rules", spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(-1))}, want: 0},
		"TooMany": {
			why:  "each virtual pod is planned for",
			spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(2_000_000_000))}, want: mostVirtual, bounded: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1beta1.CapacityBuffer{Spec: c.spec}
			got, bounded := BufferSize(b, BufferPod(b, template()), c.replicas)
			if got != c.want || bounded != c.bounded {
				t.Errorf("%d pods (bounded: %t), want %d (%t): %s", got, bounded, c.want, c.bounded, c.why)
			}
		})
	}
}

// A buffer of no pods says where that comes from, and what to change.
func TestWhyEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		spec     v1beta1.CapacityBufferSpec
		replicas *int32
		want     string
	}{
		"LimitBelowOnePod": {spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(3)), Limits: list("500m", "")}, want: "spec.limits has cpu 0.5, and one pod requests 1: raise it"},
		"LimitOfNothing":   {spec: v1beta1.CapacityBufferSpec{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}, want: "spec.limits names nothing that its pods request"},
		"NoReplicas":       {spec: v1beta1.CapacityBufferSpec{Replicas: new(int32(0))}, want: "spec.replicas is 0"},
		"NoShare":          {spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(0))}, replicas: new(int32(4)), want: "spec.percentage is 0"},
		"ScaledToZero":     {spec: v1beta1.CapacityBufferSpec{Percentage: new(int32(50))}, replicas: new(int32(0)), want: "its workload has no replicas"},
		"NoNumber":         {spec: v1beta1.CapacityBufferSpec{}, replicas: new(int32(4)), want: "its spec says no number"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1beta1.CapacityBuffer{Spec: c.spec}
			pod := BufferPod(b, template())
			if size, _ := BufferSize(b, pod, c.replicas); size != 0 {
				t.Fatalf("it is of %d pods", size)
			}
			if got := WhyEmpty(b, pod, c.replicas); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestVirtualPods(t *testing.T) {
	b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web", UID: "u"}}
	pods := VirtualPods(b, BufferPod(b, template()), 2)
	if len(pods) != 2 || pods[0].Key == pods[1].Key || pods[0].UID == pods[1].UID {
		t.Fatalf("want two pods that can be told apart, got %+v", pods)
	}
	for _, p := range pods {
		if buffer, ok := p.Buffer(); !ok || buffer != (world.Key{Namespace: "d", Name: "web"}) {
			t.Errorf("%s is of buffer %s, %t", p.Key, buffer, ok)
		}
		if !p.Waiting || p.Node != "" || p.Priority != world.VirtualPriority {
			t.Errorf("it waits nowhere, behind every real pod: %+v", p)
		}
		if p.Disruption.Forbidden || p.Disruption.Alone || p.Disruption.Critical {
			t.Errorf("nothing that does not exist keeps a node: %+v", p.Disruption)
		}
		if p.Labels["app"] != "web" || p.Requests.Value("cpu") != 1000 {
			t.Errorf("spread and anti-affinity count it, and it takes room: %+v", p)
		}
	}
	if left := Mounts(BufferPod(b, template())); len(left) != 0 {
		t.Errorf("it mounts %v, which belongs to pods that exist", left)
	}
}
