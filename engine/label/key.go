package label

// The labels the engine itself has to know.
const (
	Zone         = "topology.kubernetes.io/zone"
	Region       = "topology.kubernetes.io/region"
	InstanceType = "node.kubernetes.io/instance-type"
	Arch         = "kubernetes.io/arch"
	OS           = "kubernetes.io/os"
	Hostname     = "kubernetes.io/hostname"
	WindowsBuild = "node.kubernetes.io/windows-build"
	CapacityType = "karpenter.sh/capacity-type"
	NodePool     = "karpenter.sh/nodepool"
	Provisioner  = "karpenter.sh/provisioner-name"
	Registered   = "karpenter.sh/registered"
	Initialized  = "karpenter.sh/initialized"
)

// Values of CapacityType.
const (
	OnDemand = "on-demand"
	Spot     = "spot"
	Reserved = "reserved"
)

// Canonical returns the name under which key is known today.
func Canonical(key string) string {
	switch key {
	case "failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone":
		return Zone
	case "failure-domain.beta.kubernetes.io/region":
		return Region
	case "beta.kubernetes.io/arch":
		return Arch
	case "beta.kubernetes.io/os":
		return OS
	case "beta.kubernetes.io/instance-type":
		return InstanceType
	}
	return key
}
