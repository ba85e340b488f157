// Package v1alpha5 is the API of Provisioners, the first form of a pool, served for good.
//
// It has every field that releases 0.6.3 to 0.27.3 had. What the webhooks of that time refused, the CRD refuses.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1alpha5
