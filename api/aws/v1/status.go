package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClassStatus is what the selectors found.
type EC2NodeClassStatus struct {
	// Subnets, those with the most free addresses first.
	// +optional
	Subnets []Subnet `json:"subnets,omitempty"`
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// +optional
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitempty"`
	// AMIs, the newest first.
	// +optional
	AMIs []AMI `json:"amis,omitempty"`
	// InstanceProfile the nodes get.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet is a subnet that nodes may be in.
type Subnet struct {
	ID   string `json:"id"`
	Zone string `json:"zone"`
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup is a group that nodes get.
type SecurityGroup struct {
	ID string `json:"id"`
	// +optional
	Name string `json:"name,omitempty"`
}

// AMI is an image that nodes may boot from.
type AMI struct {
	ID string `json:"id"`
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// Requirements say which machines the image is for.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}

// CapacityReservation is a reservation that nodes may use.
type CapacityReservation struct {
	AvailabilityZone string `json:"availabilityZone"`
	// EndTime is when the reservation ends, if it does.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// +kubebuilder:validation:Pattern:=`^cr-[0-9a-z]+$`
	ID string `json:"id"`
	// +kubebuilder:validation:Enum:={open,targeted}
	InstanceMatchCriteria string `json:"instanceMatchCriteria"`
	InstanceType          string `json:"instanceType"`
	// +kubebuilder:validation:Pattern:=`^[0-9]{12}$`
	OwnerID string `json:"ownerID"`
	// +kubebuilder:validation:Enum:={default,capacity-block}
	// +kubebuilder:default=default
	ReservationType string `json:"reservationType,omitempty"`
	// +kubebuilder:validation:Enum:={active,expiring}
	// +kubebuilder:default=active
	State string `json:"state,omitempty"`
	// Interruptible reservations can be taken back.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`
}
