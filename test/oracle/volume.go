package oracle

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

const (
	csiDriver = "disk.example.com"
	boundNote = "pv.kubernetes.io/bind-completed"
)

// classes are the kinds of storage: anywhere, and in two zones only. Volumes of
// both are made where their pod is put.
func (g *generator) storage() {
	late := storagev1.VolumeBindingWaitForFirstConsumer
	anywhere := storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "anywhere"}, Provisioner: csiDriver, VolumeBindingMode: &late}
	somewhere := *anywhere.DeepCopy()
	somewhere.Name = "somewhere"
	somewhere.AllowedTopologies = []corev1.TopologySelectorTerm{
		{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: label.Zone, Values: zones[1:]}}},
	}
	g.Classes = []storagev1.StorageClass{anywhere, somewhere}
	for _, n := range g.Nodes {
		if g.chance(60) {
			room := int32(1 + g.IntN(3))
			g.CSINodes = append(g.CSINodes, storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Spec: storagev1.CSINodeSpec{
				Drivers: []storagev1.CSINodeDriver{{Name: csiDriver, NodeID: n.Name, Allocatable: &storagev1.VolumeNodeResources{Count: &room}}},
			}})
		}
	}
}

// disk gives a pod a disk of its own: one that is there already, in some zone, or one still to be made.
func (g *generator) disk(p *corev1.Pod) {
	name := "disk-" + p.Name
	c := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.Namespace},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	class := pick(g, "anywhere", "somewhere")
	c.Spec.StorageClassName = &class
	if g.chance(50) {
		c.Annotations, c.Spec.VolumeName, c.Status.Phase = map[string]string{boundNote: "yes"}, "pv-"+p.Namespace+"-"+p.Name, corev1.ClaimBound
		g.PVs = append(g.PVs, corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: c.Spec.VolumeName},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes, StorageClassName: class,
				ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: csiDriver, VolumeHandle: c.Spec.VolumeName}},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: label.Zone, Operator: corev1.NodeSelectorOpIn, Values: []string{pick(g, zones...)}}},
				}}}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		})
	}
	g.PVCs = append(g.PVCs, c)
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
}

// bind reads a pod with its volumes resolved.
func (c *Cluster) bind(p *corev1.Pod) world.Pod {
	find := observe.Volumes{
		Claim: func(k world.Key) (observe.VolumeClaim, bool) {
			for i := range c.PVCs {
				if c.PVCs[i].Namespace == k.Namespace && c.PVCs[i].Name == k.Name {
					return observe.ReadVolumeClaim(&c.PVCs[i]), true
				}
			}
			return observe.VolumeClaim{}, false
		},
		Volume: func(name string) (observe.PersistentVolume, bool) {
			for i := range c.PVs {
				if c.PVs[i].Name == name {
					return observe.ReadPersistentVolume(&c.PVs[i]), true
				}
			}
			return observe.PersistentVolume{}, false
		},
		Class: func(name string) (observe.StorageClass, bool) {
			for i := range c.Classes {
				if c.Classes[i].Name == name {
					return observe.ReadStorageClass(&c.Classes[i]), true
				}
			}
			return observe.StorageClass{}, false
		},
	}
	return find.Bind(observe.Pod(p), observe.Mounts(p))
}

// csiOf is what is known of a node's attachments; nil if nothing is.
func (c *Cluster) csiOf(node string) *storagev1.CSINode {
	for i := range c.CSINodes {
		if c.CSINodes[i].Name == node {
			return &c.CSINodes[i]
		}
	}
	return nil
}
