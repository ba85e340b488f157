package size

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Names of the cluster, its only pool and its only class.
const (
	clusterName = "size"
	poolName    = "default"
	className   = "default"
	region      = "us-west-2"
)

// class is a class of machines of one image.
func class(image string) *awsv1.EC2NodeClass {
	tags := map[string]string{"karpenter.sh/discovery": clusterName}
	return &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Spec: awsv1.EC2NodeClassSpec{
		Role: "KarpenterNodeRole-" + clusterName, AMISelectorTerms: []awsv1.AMISelectorTerm{{ID: image}}, AMIFamily: new("AL2023"),
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: tags}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: tags}},
	}}
}

// pool is a pool of all types, whose machines are consolidated as by default.
func pool() *v1.NodePool {
	return &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}, Spec: v1.NodePoolSpec{
		Disruption: v1.Disruption{ConsolidateAfter: "30s", ConsolidationPolicy: v1.WhenEmptyOrUnderutilized},
		Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
			NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: className}, ExpireAfter: v1.Never,
			Requirements: []v1.Requirement{
				{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
				{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
			},
		}},
	}}
}

// managed is what a field manager leaves behind on an object: more than the half of many.
func managed(manager string, fields int) metav1.ManagedFieldsEntry {
	var b strings.Builder
	b.WriteString("{")
	for i := range fields {
		fmt.Fprintf(&b, `%q:{},`, fmt.Sprint("f:status-or-spec-field-", i))
	}
	b.WriteString(`"f:last":{}}`)
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(b.String())}
}

// app is what the pods of one Deployment share.
type app struct {
	n    int
	name string
	spec corev1.PodSpec
	meta metav1.ObjectMeta
}

// appOf is the n-th Deployment. Its pods are as large as pods of a usual service
// are: an agent beside the program, probes, variables, volumes and what a server adds.
func appOf(n int) *app {
	a := &app{n: n, name: fmt.Sprint("service-", n)}
	ask := corev1.ResourceList{"cpu": resource.MustParse(fmt.Sprint(200+n%8*100, "m")), "memory": resource.MustParse(fmt.Sprint(512*(1+n%4), "Mi"))}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}, PeriodSeconds: 10, FailureThreshold: 3}
	var env []corev1.EnvVar
	for i := range 15 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprint("SETTING_OF_SERVICE_", i), Value: fmt.Sprintf("value-%d-of-%s.example.internal", i, a.name)})
	}
	token := corev1.VolumeMount{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "123456789012.dkr.ecr.us-west-2.amazonaws.com/team/" + a.name + "-" + name + ":v1.24.3", Env: env,
			Args: []string{"--listen=:8080", "--log-level=info"}, VolumeMounts: []corev1.VolumeMount{token}, LivenessProbe: probe, ReadinessProbe: probe,
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "IfNotPresent",
		}
	}
	service := container("main")
	service.Resources = corev1.ResourceRequirements{Requests: ask, Limits: ask}
	labels := map[string]string{"app": a.name, "pod-template-hash": "7d4b9c6f5", "team": fmt.Sprint("team-", n%100), "version": "v1"}
	grace := int64(30)
	a.meta = metav1.ObjectMeta{
		Namespace: fmt.Sprint("team-", n%100), Labels: labels, Annotations: map[string]string{"checksum/config": strings.Repeat("0123456789abcdef", 4)},
		CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour)),
		OwnerReferences:   []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: a.name + "-7d4b9c6f5", UID: types.UID(fmt.Sprintf("7d4b9c6f-0000-4000-8000-%012d", n)), Controller: new(true)}},
		ManagedFields:     []metav1.ManagedFieldsEntry{managed("kube-controller-manager", 45), managed("kubelet", 35)},
	}
	a.spec = corev1.PodSpec{
		Containers:         []corev1.Container{service, container("agent")},
		ServiceAccountName: a.name, SchedulerName: "default-scheduler", RestartPolicy: "Always", DNSPolicy: "ClusterFirst", TerminationGracePeriodSeconds: &grace,
		Volumes: []corev1.Volume{{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
		}}}},
		Tolerations: []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
			{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
		},
	}
	if n%3 == 0 {
		a.spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}},
		}}
	}
	return a
}

// pod is the i-th pod of the Deployment. With a node it runs there, otherwise kube-scheduler has found no place for it.
func (a *app) pod(i int, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: a.meta, Spec: a.spec}
	p.Name = fmt.Sprintf("%s-7d4b9c6f5-%05d", a.name, i)
	p.UID = types.UID(fmt.Sprintf("9b1d3c5a-0000-4000-%04d-%012d", a.n, i))
	if node == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/5000 nodes are available: 5000 Insufficient cpu.", LastTransitionTime: a.meta.CreationTimestamp,
		}}}
		return p
	}
	p.Spec.NodeName, p.Status = node, running(a)
	return p
}

func running(a *app) corev1.PodStatus {
	now := a.meta.CreationTimestamp
	s := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, PodIP: "10.0.0.1", HostIP: "10.0.0.2", QOSClass: "Burstable"}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range a.spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Ready: true, Image: c.Image, ImageID: c.Image + "@sha256:" + strings.Repeat("0123456789abcdef", 4), ContainerID: "containerd://" + strings.Repeat("0123456789abcdef", 4),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}, Started: new(true),
		})
	}
	return s
}

// room is what a machine of a type has.
func room(t *market.Type) corev1.ResourceList {
	return corev1.ResourceList{
		"cpu": *resource.NewQuantity(int64(t.VCPUs), resource.DecimalSI), "memory": *resource.NewQuantity(t.MemoryMiB*97/100<<20, resource.BinarySI),
		"ephemeral-storage": resource.MustParse("20Gi"), "pods": resource.MustParse("58"),
	}
}

// node is the node that a machine joins as.
func node(i market.Instance, t *market.Type) *corev1.Node {
	have := room(t)
	var images []corev1.ContainerImage
	for k := range 40 {
		images = append(images, corev1.ContainerImage{Names: []string{fmt.Sprint("123456789012.dkr.ecr.us-west-2.amazonaws.com/team/image-", k, "@sha256:", strings.Repeat("0123456789abcdef", 4))}, SizeBytes: 1 << 28})
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: i.DNS, Labels: map[string]string{
			corev1.LabelHostname: i.DNS, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelInstanceTypeStable: i.Type,
			corev1.LabelTopologyZone: i.Zone, corev1.LabelTopologyRegion: region, "topology.k8s.aws/zone-id": i.ZoneID,
		}, ManagedFields: []metav1.ManagedFieldsEntry{managed("kubelet", 60), managed("aws-cloud-controller-manager", 20)}},
		Spec: corev1.NodeSpec{ProviderID: providerID(i), Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}},
		Status: corev1.NodeStatus{
			Capacity: have, Allocatable: have, Images: images, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.34.0", Architecture: "amd64", OperatingSystem: "linux"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now()}},
		},
	}
	return n
}

func providerID(i market.Instance) string { return "aws:///" + i.Zone + "/" + i.ID }

// settled are the node and the claim of a machine that has been there for long.
func settled(i market.Instance, t *market.Type) (*corev1.Node, *v1.NodeClaim) {
	n := node(i, t)
	long := metav1.NewTime(time.Now().Add(-time.Hour))
	labels := map[string]string{
		v1.LabelNodePool: poolName, v1.LabelCapacityType: i.CapacityType, corev1.LabelInstanceTypeStable: i.Type, corev1.LabelTopologyZone: i.Zone,
		corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelTopologyRegion: region, "karpenter.k8s.aws/ec2nodeclass": className,
	}
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: poolName + "-" + i.ID[2:], Labels: labels, Annotations: map[string]string{awsv1.AnnotationTagged: "true"}, Finalizers: []string{v1.Finalizer}, CreationTimestamp: long},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: className}, ExpireAfter: v1.Never,
			Requirements: []v1.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{i.Type}}},
		},
		Status: v1.NodeClaimStatus{ProviderID: providerID(i), NodeName: i.DNS, ImageID: i.Image, Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable},
	}
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, "Ready"} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: long})
	}
	for k, v := range labels {
		n.Labels[k] = v
	}
	n.Labels[v1.LabelRegistered], n.Labels[v1.LabelInitialized] = "true", "true"
	n.Spec.Taints, n.Finalizers, n.CreationTimestamp = nil, []string{v1.Finalizer}, long
	n.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.Group + "/v1", Kind: "NodeClaim", Name: c.Name, BlockOwnerDeletion: new(true)}}
	return n, c
}
