package v1

// Labels of a machine that pools and pods may ask for.
const (
	LabelZoneID = "topology.k8s.aws/zone-id"

	LabelInstanceCategory              = Group + "/instance-category"
	LabelInstanceFamily                = Group + "/instance-family"
	LabelInstanceGeneration            = Group + "/instance-generation"
	LabelInstanceSize                  = Group + "/instance-size"
	LabelInstanceCapabilityFlex        = Group + "/instance-capability-flex"
	LabelInstanceCPU                   = Group + "/instance-cpu"
	LabelInstanceCPUManufacturer       = Group + "/instance-cpu-manufacturer"
	LabelInstanceCPUClock              = Group + "/instance-cpu-sustained-clock-speed-mhz"
	LabelInstanceMemory                = Group + "/instance-memory"
	LabelInstanceEBSBandwidth          = Group + "/instance-ebs-bandwidth"
	LabelInstanceNetworkBandwidth      = Group + "/instance-network-bandwidth"
	LabelInstanceLocalNVMe             = Group + "/instance-local-nvme"
	LabelInstanceHypervisor            = Group + "/instance-hypervisor"
	LabelInstanceEncryptionInTransit   = Group + "/instance-encryption-in-transit-supported"
	LabelInstancePods                  = Group + "/instance-pods"
	LabelInstanceGPUName               = Group + "/instance-gpu-name"
	LabelInstanceGPUManufacturer       = Group + "/instance-gpu-manufacturer"
	LabelInstanceGPUCount              = Group + "/instance-gpu-count"
	LabelInstanceGPUMemory             = Group + "/instance-gpu-memory"
	LabelInstanceAcceleratorName       = Group + "/instance-accelerator-name"
	LabelInstanceAcceleratorMaker      = Group + "/instance-accelerator-manufacturer"
	LabelInstanceAcceleratorCount      = Group + "/instance-accelerator-count"
	LabelInstanceAcceleratorMemory     = Group + "/instance-accelerator-memory"
	LabelInstanceTenancy               = Group + "/instance-tenancy"
	LabelNitroSandbox                  = Group + "/nitro-sandbox"
	LabelCapacityReservationID         = Group + "/capacity-reservation-id"
	LabelCapacityReservationType       = Group + "/capacity-reservation-type"
	LabelCapacityReservationInterrupts = Group + "/capacity-reservation-interruptible"
	LabelPlacementGroupID              = Group + "/placement-group-id"
	LabelPlacementGroupPartition       = Group + "/placement-group-partition"

	LabelNodeClass = Group + "/ec2nodeclass"
)

// Annotations and the finalizer.
const (
	AnnotationHash            = Group + "/ec2nodeclass-hash"
	AnnotationHashVersion     = Group + "/ec2nodeclass-hash-version"
	AnnotationTagged          = Group + "/tagged" // "true" on a claim whose machine carries its name
	AnnotationInstanceProfile = Group + "/instance-profile-name"
	AnnotationClusterTagged   = "compatibility." + Group + "/cluster-name-tagged"

	Finalizer = Group + "/termination"
)
