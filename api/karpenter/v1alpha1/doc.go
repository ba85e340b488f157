// Package v1alpha1 is the API of overlays: NodeOverlay corrects the price or adds to the capacity of instance types.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1alpha1
