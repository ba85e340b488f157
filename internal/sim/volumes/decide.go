// Package volumes is the EBS storage driver of a cluster whose machines are simulated: it makes the volumes that claims ask for, and attaches them to machines.
//
// Of the disks there is nothing but objects. Everything else is as it is with
// the real driver: Kubernetes' own controllers choose when a volume is made,
// bound, attached and taken off, so that zones, attachments and limits hold.
package volumes

import (
	"hash/fnv"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Name is the driver's.
const Name = "ebs.csi.aws.com"

const (
	// finalizer keeps an attachment until its volume is off the machine.
	finalizer = "external-attacher/ebs-csi-aws-com"

	annotationDriver      = "volume.kubernetes.io/storage-provisioner"      // the provisioner of a claim's volume
	annotationDriverOfOld = "volume.beta.kubernetes.io/storage-provisioner" // the same
	annotationNode        = "volume.kubernetes.io/selected-node"            // for which node
	annotationMaker       = "pv.kubernetes.io/provisioned-by"
	zoneOfDriver          = "topology.ebs.csi.aws.com/zone" // another name of a zone, which classes may use
)

// wanted reports whether this driver has to make the volume of a claim now. A
// claim that waits for its first pod wants it once a node was chosen.
func wanted(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	driver := c.Annotations[annotationDriver]
	if driver == "" {
		driver = c.Annotations[annotationDriverOfOld]
	}
	if driver != Name || c.Spec.VolumeName != "" || c.DeletionTimestamp != nil {
		return false
	}
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	return !waits || c.Annotations[annotationNode] != ""
}

// Zone chooses where the volume of a claim is made: where its node is, or else
// somewhere that the class allows and machines are. It is empty if there is no such zone.
func Zone(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, nodes []*corev1.Node) string {
	allowed, limited := allowedZones(class)
	var zones []string
	for _, n := range nodes {
		zone := n.Labels[corev1.LabelTopologyZone]
		if n.Name == c.Annotations[annotationNode] {
			return zone
		}
		if zone != "" && (!limited || slices.Contains(allowed, zone)) {
			zones = append(zones, zone)
		}
	}
	if c.Annotations[annotationNode] != "" {
		return "" // that node has gone
	}
	if len(zones) == 0 {
		zones = allowed
	}
	if len(zones) == 0 {
		return ""
	}
	slices.Sort(zones)
	zones = slices.Compact(zones)
	return zones[hash(string(c.UID))%uint64(len(zones))]
}

// allowedZones are the zones a class allows; limited is false when it allows all.
func allowedZones(class *storagev1.StorageClass) (zones []string, limited bool) {
	for _, term := range class.AllowedTopologies {
		for _, e := range term.MatchLabelExpressions {
			if e.Key == corev1.LabelTopologyZone || e.Key == zoneOfDriver {
				zones, limited = append(zones, e.Values...), true
			}
		}
	}
	return zones, limited
}

// Volume is what the driver makes for a claim in a zone.
func Volume(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zone string) *corev1.PersistentVolume {
	reclaim, mode := corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeFilesystem
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	if c.Spec.VolumeMode != nil {
		mode = *c.Spec.VolumeMode
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(c.UID), Annotations: map[string]string{annotationMaker: Name}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   c.Spec.AccessModes,
			VolumeMode:                    &mode,
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: Name, VolumeHandle: "vol-0" + strconv.FormatUint(hash(string(c.UID)), 16), FSType: "ext4",
			}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
			}}}},
		},
	}
}

// useless reports whether a volume that this driver made is to go: its claim
// has, and so says its policy.
func useless(v *corev1.PersistentVolume) bool {
	return v.Annotations[annotationMaker] == Name && v.DeletionTimestamp == nil &&
		v.Status.Phase == corev1.VolumeReleased && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// Plugin is what the driver's part on a node says of it: how many volumes it
// can attach, and what zones are called.
func Plugin(n *corev1.Node, limit int32) *storagev1.CSINode {
	return &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{
			Name:            n.Name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}},
		},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name: Name, NodeID: n.Name, TopologyKeys: []string{corev1.LabelTopologyZone},
			Allocatable: &storagev1.VolumeNodeResources{Count: &limit},
		}}},
	}
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
