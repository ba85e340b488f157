// Package v1 is the API of pools and claims: NodePool says what nodes may be, NodeClaim asks for one.
//
// The types hold data and pure questions about it. What the API server can check stands beside the fields as markers
// and is generated into the CRDs; what it cannot is in problems.go.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1
