package kubelet

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/quantity"
)

const shippedVersion = "v1.36.3"

// attachAnnotation says that the cluster attaches volumes to the node, not its kubelet.
const attachAnnotation = "volumes.kubernetes.io/controller-managed-attach-detach"

// Node returns the Node that machine m registers under settings s, without the resources of device plugins, which
// come later.
func Node(m Machine, s Settings) (*corev1.Node, error) {
	capacity, allocatable, err := resources(m, s)
	if err != nil {
		return nil, fmt.Errorf("resources of machine %s: %w", m.ID, err)
	}
	arch, version := m.Arch, m.Version
	if arch == "" {
		arch = "amd64"
	}
	if version == "" {
		version = shippedVersion
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        m.NodeName,
			Labels:      labels(m, s, arch),
			Annotations: map[string]string{HeartbeatAnnotation: "fake", MachineAnnotation: m.ID, attachAnnotation: "true"},
		},
		Spec: corev1.NodeSpec{ProviderID: m.ProviderID, Taints: s.Taints},
		Status: corev1.NodeStatus{
			Capacity:    without(capacity, isDevice),
			Allocatable: without(allocatable, isDevice),
			Addresses:   addresses(m),
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: m.ID, SystemUUID: m.ID, BootID: m.ID,
				Architecture: arch, OperatingSystem: "linux", OSImage: m.Image,
				KubeletVersion: version, ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.12.0",
			},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionFalse,
				Reason: "KubeletNotReady", Message: "container runtime network not ready",
			}},
		},
	}
	return n, nil
}

// labels are those of the user data, the kubelet's own and the cloud controller's.
func labels(m Machine, s Settings, arch string) map[string]string {
	l := map[string]string{}
	maps.Copy(l, s.Labels)
	for name, value := range map[string]string{
		corev1.LabelHostname:                m.NodeName,
		corev1.LabelOSStable:                "linux",
		corev1.LabelArchStable:              arch,
		"beta.kubernetes.io/os":             "linux",
		"beta.kubernetes.io/arch":           arch,
		corev1.LabelInstanceTypeStable:      m.InstanceType,
		corev1.LabelInstanceType:            m.InstanceType,
		corev1.LabelTopologyZone:            m.Zone,
		corev1.LabelTopologyRegion:          m.Region,
		corev1.LabelFailureDomainBetaZone:   m.Zone,
		corev1.LabelFailureDomainBetaRegion: m.Region,
		"topology.k8s.aws/zone-id":          m.ZoneID,
	} {
		if value != "" {
			l[name] = value
		}
	}
	maps.Copy(l, m.Labels)
	return l
}

func addresses(m Machine) []corev1.NodeAddress {
	a := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: m.NodeName}}
	if m.PrivateIP != "" {
		a = append(a, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: m.PrivateIP}, corev1.NodeAddress{Type: corev1.NodeInternalDNS, Address: m.NodeName})
	}
	return a
}

// isDevice reports what device plugins report, after the kubelet has registered.
func isDevice(name corev1.ResourceName) bool { return strings.Contains(string(name), "/") }

func without(l corev1.ResourceList, drop func(corev1.ResourceName) bool) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range l {
		if !drop(name) {
			out[name] = q
		}
	}
	return out
}

// resources works out what machine m reports under settings s.
func resources(m Machine, s Settings) (capacity, allocatable corev1.ResourceList, err error) {
	capacity = m.Capacity.DeepCopy()
	density := pods(capacity, s)
	reservedFor := capacity.Pods().Value()
	if s.DensityReserve {
		reservedFor = density
	}
	capacity[corev1.ResourcePods] = *resource.NewQuantity(density, resource.DecimalSI)
	if m.Allocatable != nil {
		allocatable = m.Allocatable.DeepCopy()
		allocatable[corev1.ResourcePods] = capacity[corev1.ResourcePods]
		return capacity, allocatable, nil
	}
	kube := defaultReserve(capacity.Cpu().MilliValue(), reservedFor)
	maps.Copy(kube, s.KubeReserved)
	eviction := map[string]string{"memory.available": "100Mi", "nodefs.available": "10%"}
	maps.Copy(eviction, s.EvictionHard)
	allocatable = capacity.DeepCopy()
	for _, take := range []struct {
		name corev1.ResourceName
		text string
	}{
		{corev1.ResourceCPU, kube["cpu"]},
		{corev1.ResourceMemory, kube["memory"]},
		{corev1.ResourceEphemeralStorage, kube["ephemeral-storage"]},
		{corev1.ResourceCPU, s.SystemReserved["cpu"]},
		{corev1.ResourceMemory, s.SystemReserved["memory"]},
		{corev1.ResourceEphemeralStorage, s.SystemReserved["ephemeral-storage"]},
		{corev1.ResourceMemory, eviction["memory.available"]},
		{corev1.ResourceEphemeralStorage, eviction["nodefs.available"]},
	} {
		left, ok := allocatable[take.name]
		if !ok || take.text == "" {
			continue
		}
		q, err := amount(take.text, capacity[take.name])
		if err != nil {
			return nil, nil, fmt.Errorf("reserve of %s: %w", take.name, err)
		}
		left.Sub(q)
		if left.Sign() < 0 {
			left = resource.Quantity{Format: left.Format}
		}
		allocatable[take.name] = left
	}
	return capacity, allocatable, nil
}

// pods is how many pods a kubelet takes.
func pods(capacity corev1.ResourceList, s Settings) int64 {
	n := capacity.Pods().Value()
	if s.MaxPods != 0 {
		n = int64(s.MaxPods)
	}
	if s.PodsPerCore != 0 {
		n = min(n, int64(s.PodsPerCore)*capacity.Cpu().Value())
	}
	return n
}

// defaultReserve is what the images of EKS reserve for the system: memory by pods, processor time by a falling share
// of the cores.
func defaultReserve(milliCPU, pods int64) map[string]string {
	reserved, left := int64(0), milliCPU
	for _, step := range []struct{ milliCPU, of10000 int64 }{{1000, 600}, {1000, 100}, {2000, 50}, {math.MaxInt64, 25}} {
		n := min(left, step.milliCPU)
		reserved += n * step.of10000
		left -= n
	}
	return map[string]string{
		"cpu":               strconv.FormatInt(reserved/10000, 10) + "m",
		"memory":            strconv.FormatInt(11*pods+255, 10) + "Mi",
		"ephemeral-storage": "1Gi",
	}
}

// amount reads a quantity or a percentage of whole. A threshold of 100 % is no threshold.
func amount(text string, whole resource.Quantity) (resource.Quantity, error) {
	percent, ok := strings.CutSuffix(text, "%")
	if !ok {
		return quantity.Parse(text)
	}
	p, err := strconv.ParseFloat(percent, 64)
	if err != nil {
		return resource.Quantity{}, err
	}
	if p >= 100 {
		p = 0
	}
	return *resource.NewQuantity(int64(float64(whole.Value())*p/100), resource.BinarySI), nil
}
