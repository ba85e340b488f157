// Package oracle asks kube-scheduler's own plugins whether a plan is right.
//
// It reads cases, one after the other, and answers each: which placements the
// scheduler's filters refuse, and which refused pods they would accept somewhere;
// or, if asked, where the default profile binds pods that wait. Cases and answers
// are values of encoding/gob in which the objects of Kubernetes are its lists in
// protobuf: as JSON they would take longer to read than to judge.
package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Written is a case as it is sent.
type Written struct {
	Rest
	Lists map[string][]byte // of objects, by kind
}

// Rest is what a case has beside objects.
type Rest struct {
	Name       string
	Placements map[string]string   // pod → node
	Refused    map[string][]string // pod → the empty nodes it might have had
	Bind       bool                // bind what waits instead of judging
	Seed       uint64              // of the order in which pods are bound
}

// Case is a plan in Kubernetes' own objects.
type Case struct {
	Rest
	Namespaces []corev1.Namespace
	Nodes      []corev1.Node // existing ones and those of the plan
	Pods       []corev1.Pod
	PVCs       []corev1.PersistentVolumeClaim
	PVs        []corev1.PersistentVolume
	Classes    []storagev1.StorageClass
	CSINodes   []storagev1.CSINode
	Empties    []corev1.Node // of Pods they have those of daemon sets
}

// read reads the lists of a case.
func read(w Written) (Case, error) {
	var (
		namespaces     corev1.NamespaceList
		nodes, empties corev1.NodeList
		pods           corev1.PodList
		pvcs           corev1.PersistentVolumeClaimList
		pvs            corev1.PersistentVolumeList
		classes        storagev1.StorageClassList
		csiNodes       storagev1.CSINodeList
	)
	for name, list := range map[string]interface{ Unmarshal(data []byte) error }{
		"namespaces": &namespaces, "nodes": &nodes, "empties": &empties, "pods": &pods, "pvcs": &pvcs, "pvs": &pvs, "classes": &classes, "csiNodes": &csiNodes,
	} {
		if err := list.Unmarshal(w.Lists[name]); err != nil {
			return Case{}, fmt.Errorf("list of %s: %w", name, err)
		}
	}
	return Case{w.Rest, namespaces.Items, nodes.Items, pods.Items, pvcs.Items, pvs.Items, classes.Items, csiNodes.Items, empties.Items}, nil
}

// Verdict is what the scheduler's plugins say of a case.
type Verdict struct {
	Name     string
	Error    string
	Placed   int
	Wrong    []string // placements that the filters refuse
	Possible []string // refused pods that the filters accept, and where
	// Bound are the nodes that pods got.
	Bound map[string]string
}
