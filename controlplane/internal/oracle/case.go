// Package oracle asks kube-scheduler's own plugins whether a plan is right.
//
// It reads cases, one JSON object a line, and answers each with a line: which
// placements the scheduler's filters refuse, and which refused pods they would
// accept somewhere; or, if asked, where the default profile binds pods that wait.
package oracle

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Case is a plan in Kubernetes' own objects.
type Case struct {
	Name       string                         `json:"name"`
	Namespaces []corev1.Namespace             `json:"namespaces,omitempty"`
	Nodes      []corev1.Node                  `json:"nodes"` // existing ones and those of the plan
	Pods       []corev1.Pod                   `json:"pods"`
	PVCs       []corev1.PersistentVolumeClaim `json:"pvcs,omitempty"`
	PVs        []corev1.PersistentVolume      `json:"pvs,omitempty"`
	Classes    []storagev1.StorageClass       `json:"classes,omitempty"`
	CSINodes   []storagev1.CSINode            `json:"csiNodes,omitempty"`
	Placements map[string]string              `json:"placements,omitempty"` // pod → node
	Refused    map[string][]string            `json:"refused,omitempty"`    // pod → the empty nodes it might have had
	Empties    []corev1.Node                  `json:"empties,omitempty"`
	Bind       bool                           `json:"bind,omitempty"` // bind what waits instead of judging
	Seed       uint64                         `json:"seed,omitempty"` // of the order in which pods are bound
}

// Verdict is what the scheduler's plugins say of a case.
type Verdict struct {
	Name     string   `json:"name"`
	Error    string   `json:"error,omitempty"`
	Placed   int      `json:"placed"`
	Wrong    []string `json:"wrong,omitempty"`    // placements that the filters refuse
	Possible []string `json:"possible,omitempty"` // refused pods that the filters accept, and where
	// Bound are the nodes that pods got.
	Bound map[string]string `json:"bound,omitempty"`
}
