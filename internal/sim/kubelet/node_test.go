package kubelet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func list(of ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(of); i += 2 {
		l[corev1.ResourceName(of[i])] = resource.MustParse(of[i+1])
	}
	return l
}

func texts(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.String()
	}
	return out
}

func TestNodeReportsWhatAKubeletWould(t *testing.T) {
	large := list("cpu", "4", "memory", "16Gi", "ephemeral-storage", "20Gi", "pods", "58", "nvidia.com/gpu", "1")
	for name, c := range map[string]struct {
		why  string
		m    Machine
		s    Settings
		want corev1.ResourceList
	}{
		"defaults": {
			why:  "60m+10m+10m of cores, 11 Mi x 58 + 255 Mi + 100 Mi of memory, 1 Gi + 10 % of the disk; the GPU comes later",
			m:    Machine{Capacity: large},
			want: list("cpu", "3920m", "memory", "15391Mi", "ephemeral-storage", "17Gi", "pods", "58"),
		},
		"more pods than addresses": {
			why:  "the images reserve for the pods that the network can address, whatever the kubelet is told",
			m:    Machine{Capacity: large},
			s:    Settings{MaxPods: 110},
			want: list("cpu", "3920m", "memory", "15391Mi", "ephemeral-storage", "17Gi", "pods", "110"),
		},
		"Bottlerocket": {
			why:  "reserves for the pods it is told",
			m:    Machine{Capacity: large},
			s:    Settings{MaxPods: 110, DensityReserve: true},
			want: list("cpu", "3920m", "memory", "14819Mi", "ephemeral-storage", "17Gi", "pods", "110"),
		},
		"reserves of the user": {
			why:  "key by key; a threshold may be a share; 100 % is none",
			m:    Machine{Capacity: large},
			s:    Settings{KubeReserved: map[string]string{"cpu": "500m"}, SystemReserved: map[string]string{"memory": "1Gi"}, EvictionHard: map[string]string{"memory.available": "25%", "nodefs.available": "100%"}},
			want: list("cpu", "3500m", "memory", "10371Mi", "ephemeral-storage", "19Gi", "pods", "58"),
		},
		"pods per core": {
			m: Machine{Capacity: large}, s: Settings{PodsPerCore: 10},
			want: list("cpu", "3920m", "memory", "15391Mi", "ephemeral-storage", "17Gi", "pods", "40"),
		},
		"the market says what is allocatable": {
			m: Machine{Capacity: large, Allocatable: list("cpu", "3", "memory", "14Gi", "pods", "58")}, s: Settings{MaxPods: 30},
			want: list("cpu", "3", "memory", "14Gi", "pods", "30"),
		},
		"a machine too small for itself": {
			m:    Machine{Capacity: list("cpu", "1", "memory", "256Mi", "pods", "4")},
			want: list("cpu", "940m", "memory", "0", "pods", "4"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := Node(c.m, c.s)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(texts(c.want), texts(n.Status.Allocatable)); d != "" {
				t.Errorf("%s\n%s", c.why, d)
			}
		})
	}
}

func TestNodeIsLabelledByKubeletCloudAndUserData(t *testing.T) {
	n, err := Node(Machine{
		ID: "i-1", NodeName: "ip-10-0-0-1.ec2.internal", ProviderID: "aws:///us-west-2a/i-1", InstanceType: "m5.large", Zone: "us-west-2a", ZoneID: "usw2-az1",
		Region: "us-west-2", Arch: "arm64", PrivateIP: "10.0.0.1", Capacity: list("cpu", "2", "memory", "8Gi", "pods", "29"), Labels: map[string]string{"of": "the cloud"},
	}, Settings{Labels: map[string]string{"karpenter.sh/nodepool": "default"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"karpenter.sh/nodepool": "default", "of": "the cloud", "kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux",
		"kubernetes.io/hostname": "ip-10-0-0-1.ec2.internal", "node.kubernetes.io/instance-type": "m5.large",
		"topology.kubernetes.io/zone": "us-west-2a", "topology.kubernetes.io/region": "us-west-2", "topology.k8s.aws/zone-id": "usw2-az1",
	} {
		if n.Labels[name] != value {
			t.Errorf("label %s is %q, want %q", name, n.Labels[name], value)
		}
	}
	if n.Spec.ProviderID != "aws:///us-west-2a/i-1" {
		t.Errorf("provider ID %q", n.Spec.ProviderID)
	}
}
