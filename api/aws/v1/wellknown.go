package v1

// WellKnownLabels returns the labels of AWS that requirements may use, sorted.
func WellKnownLabels() []string {
	return []string{
		LabelCapacityReservationID,
		LabelCapacityReservationInterrupts,
		LabelCapacityReservationType,
		LabelNodeClass,
		LabelInstanceAcceleratorCount,
		LabelInstanceAcceleratorMaker,
		LabelInstanceAcceleratorMemory,
		LabelInstanceAcceleratorName,
		LabelInstanceCapabilityFlex,
		LabelInstanceCategory,
		LabelInstanceCPU,
		LabelInstanceCPUManufacturer,
		LabelInstanceCPUClock,
		LabelInstanceEBSBandwidth,
		LabelInstanceEncryptionInTransit,
		LabelInstanceFamily,
		LabelInstanceGeneration,
		LabelInstanceGPUCount,
		LabelInstanceGPUManufacturer,
		LabelInstanceGPUMemory,
		LabelInstanceGPUName,
		LabelInstanceHypervisor,
		LabelInstanceLocalNVMe,
		LabelInstanceMemory,
		LabelInstanceNetworkBandwidth,
		LabelInstancePods,
		LabelInstanceSize,
		LabelInstanceTenancy,
		LabelNitroSandbox,
		LabelPlacementGroupID,
		LabelPlacementGroupPartition,
		LabelZoneID,
	}
}
