// Package v1beta1 is the API of capacity buffers: CapacityBuffer keeps room for pods that have not come yet.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io
package v1beta1
