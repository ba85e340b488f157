// Package v1 is the API of EC2NodeClass: the settings of AWS that nodes of a pool are made from.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1
