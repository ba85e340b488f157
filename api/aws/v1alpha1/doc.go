// Package v1alpha1 is the API of AWSNodeTemplate, the settings of AWS that nodes of a Provisioner are made from,
// served for good.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1alpha1
