package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Mount is a volume of a pod that refers to something else.
type Mount struct {
	Claim  string // name of the PersistentVolumeClaim, in the pod's namespace
	Own    bool   // the claim is made for this pod
	Driver string // of an inline CSI volume
	Name   string // of the volume in the pod
}

// VolumeClaim is what matters of a PersistentVolumeClaim.
type VolumeClaim struct {
	Volume   string // it is bound to, or asks for by name
	Bound    bool   // binding is complete
	Class    string
	Static   bool // it asks to be bound to a volume without a class, and that none is made
	OneNode  bool // its access modes are for one node at a time
	OnePod   bool // its access mode is for one pod at a time
	Lost     bool
	Deleting bool
}

// PersistentVolume is what matters of a PersistentVolume.
type PersistentVolume struct {
	Driver   string
	Handle   string
	Places   []label.Set // one of them must hold; empty: anywhere
	OneNode  bool        // its access modes are for one node at a time
	Deleting bool
}

// ID distinguishes one volume from another, whichever claims are bound to it.
func (v PersistentVolume) ID() string { return v.Driver + "/" + v.Handle }

// StorageClass is what matters of a StorageClass.
type StorageClass struct {
	Driver    string
	Immediate bool // its volumes are made before the pod is placed
	Zonal     bool // each of its volumes is reached from one zone only
	Places    []label.Set
}

// Volumes looks up what the volumes of pods refer to. A nil function knows nothing.
type Volumes struct {
	Claim  func(world.Key) (VolumeClaim, bool)
	Volume func(name string) (PersistentVolume, bool)
	Class  func(name string) (StorageClass, bool)

	// Unattached reports whether a CSI driver says that nodes reach its volumes without attaching them.
	Unattached func(driver string) bool
}

// Mounts lists the volumes of a pod that bind it to places or take one of a node's attachments.
func Mounts(p *corev1.Pod) []Mount {
	var out []Mount
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, Mount{Name: v.Name, Claim: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			out = append(out, Mount{Name: v.Name, Claim: p.Name + "-" + v.Name, Own: true})
		case v.CSI != nil:
			out = append(out, Mount{Name: v.Name, Driver: v.CSI.Driver})
		}
	}
	return out
}

// ReadVolumeClaim reads a PersistentVolumeClaim.
func ReadVolumeClaim(c *corev1.PersistentVolumeClaim) VolumeClaim {
	const boundAt = "pv.kubernetes.io/bind-completed"
	_, bound := c.Annotations[boundAt]
	out := VolumeClaim{
		Volume: c.Spec.VolumeName, Bound: bound || c.Status.Phase == corev1.ClaimBound,
		OneNode: oneNode(c.Spec.AccessModes), OnePod: slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod),
		Lost: c.Status.Phase == corev1.ClaimLost, Deleting: c.DeletionTimestamp != nil,
	}
	if c.Spec.StorageClassName != nil {
		out.Class, out.Static = *c.Spec.StorageClassName, *c.Spec.StorageClassName == ""
	} else {
		out.Class = c.Annotations[corev1.BetaStorageClassAnnotation]
	}
	return out
}

// ReadPersistentVolume reads a PersistentVolume. A volume of a node's own disk
// says which node that was; the node may be gone, so that is left out.
func ReadPersistentVolume(v *corev1.PersistentVolume) PersistentVolume {
	out := PersistentVolume{Deleting: v.DeletionTimestamp != nil, Handle: v.Name, OneNode: oneNode(v.Spec.AccessModes)}
	if csi := v.Spec.CSI; csi != nil {
		out.Driver, out.Handle = csi.Driver, csi.VolumeHandle
	} else {
		out.Driver = inTree(v)
	}
	own := v.Spec.Local != nil || v.Spec.HostPath != nil
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		for _, t := range a.Required.NodeSelectorTerms {
			term, ok := nodeTerm(t, "", func(string, ...any) {})
			if !ok {
				continue
			}
			if own {
				term.Labels = term.Labels.Without(label.Hostname)
			}
			out.Places = append(out.Places, term.Labels)
		}
	}
	if len(out.Places) == 0 {
		out.Places = zonesOf(v.Labels)
	}
	if slices.ContainsFunc(out.Places, func(s label.Set) bool { return len(s) == 0 }) {
		out.Places = nil
	}
	return out
}

// oneNode reports whether the controller that attaches volumes attaches one of
// these modes to one node at a time. Of no mode it knows nothing, and does not ask.
func oneNode(modes []corev1.PersistentVolumeAccessMode) bool {
	return len(modes) > 0 && !slices.Contains(modes, corev1.ReadWriteMany) && !slices.Contains(modes, corev1.ReadOnlyMany)
}

// Unattached reports whether nodes reach the driver's volumes without attaching them.
func Unattached(d *storagev1.CSIDriver) bool {
	return d.Spec.AttachRequired != nil && !*d.Spec.AttachRequired
}

// zonesOf reads the zone and region labels that volumes had before they had affinity.
func zonesOf(labels map[string]string) []label.Set {
	var s label.Set
	for k, v := range labels {
		if key := label.Canonical(k); key == label.Zone || key == label.Region {
			s = s.And(label.Is(key, strings.Split(v, "__")...))
		}
	}
	if len(s) == 0 {
		return nil
	}
	return []label.Set{s}
}

// inTree names the CSI driver that serves a volume of an old kind.
func inTree(v *corev1.PersistentVolume) string {
	switch {
	case v.Spec.AWSElasticBlockStore != nil:
		return "ebs.csi.aws.com"
	case v.Spec.GCEPersistentDisk != nil:
		return "pd.csi.storage.gke.io"
	case v.Spec.AzureDisk != nil:
		return "disk.csi.azure.com"
	}
	return ""
}

// ReadStorageClass reads a StorageClass.
func ReadStorageClass(c *storagev1.StorageClass) StorageClass {
	out := StorageClass{
		Driver:    c.Provisioner,
		Immediate: c.VolumeBindingMode == nil || *c.VolumeBindingMode == storagev1.VolumeBindingImmediate,
	}
	switch c.Provisioner {
	case "kubernetes.io/aws-ebs":
		out.Driver = "ebs.csi.aws.com"
	case "kubernetes.io/gce-pd":
		out.Driver = "pd.csi.storage.gke.io"
	case "kubernetes.io/azure-disk":
		out.Driver = "disk.csi.azure.com"
	case "kubernetes.io/no-provisioner":
		out.Driver = ""
	}
	for _, t := range c.AllowedTopologies {
		var s label.Set
		for _, e := range t.MatchLabelExpressions {
			s = s.And(label.Is(e.Key, e.Values...))
		}
		if len(s) > 0 {
			out.Places = append(out.Places, s)
		}
	}
	out.Zonal = zonal(out)
	return out
}

// zonal reports whether volumes of the class lie in one zone each: those of disks
// do, and those of classes that say in which zones. Shared file systems are reached from everywhere.
func zonal(c StorageClass) bool {
	switch c.Driver {
	case "ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com":
		return true
	}
	return slices.ContainsFunc(c.Places, func(s label.Set) bool { _, says := s.Find(label.Zone); return says })
}

// Bind returns the pod with its volumes resolved. What is missing is a problem
// of a pod that waits; a pod that runs has what it needs.
func (v Volumes) Bind(p world.Pod, mounts []Mount) world.Pod {
	var wrong problems
	p.Volumes = nil
	for _, m := range mounts {
		if m.Driver != "" {
			p.Volumes = append(p.Volumes, world.Volume{ID: p.String() + "/" + m.Name, Driver: m.Driver})
			continue
		}
		vol, ok := v.resolve(p, m, wrong.add)
		if ok {
			p.Volumes = append(p.Volumes, vol)
		}
	}
	if p.Node == "" && len(wrong) > 0 {
		p.Problems = append(slices.Clone(p.Problems), wrong...)
	}
	return p
}

// resolve follows a mount to its claim, and from there to its volume or its class.
func (v Volumes) resolve(p world.Pod, m Mount, problem func(string, ...any)) (world.Volume, bool) {
	key := world.Key{Namespace: p.Namespace, Name: m.Claim}
	c, ok := lookup(v.Claim, key)
	out := world.Volume{ID: key.String(), OnePod: c.OnePod}
	switch {
	case !ok:
		problem("volume %s: persistent volume claim %s does not exist", m.Name, key)
		return out, false
	case c.Deleting:
		problem("volume %s: persistent volume claim %s is being deleted", m.Name, key)
		return out, false
	case c.Lost:
		problem("volume %s: persistent volume claim %s has lost its volume", m.Name, key)
		return out, false
	case c.Volume != "":
		return v.bound(out, key, c, m, problem)
	case c.Static:
		problem("volume %s: persistent volume claim %s is not bound, and with storageClassName \"\" none is made for it: it needs a PersistentVolume without a class that is large enough and has its access modes", m.Name, key)
		return out, false
	case c.Class == "":
		problem("volume %s: persistent volume claim %s is not bound and names no storage class", m.Name, key)
		return out, false
	}
	class, ok := lookup(v.Class, c.Class)
	switch {
	case !ok:
		problem("volume %s: storage class %s of claim %s does not exist", m.Name, c.Class, key)
		return out, false
	case class.Immediate:
		problem("volume %s: persistent volume claim %s is not bound yet, and its storage class %s binds before pods are placed", m.Name, key, c.Class)
		return out, false
	}
	out.Driver, out.Places, out.Pending = class.Driver, class.Places, class.Zonal
	out.OneNode = c.OneNode && v.attaches(class.Driver)
	return out, true
}

func (v Volumes) bound(out world.Volume, key world.Key, c VolumeClaim, m Mount, problem func(string, ...any)) (world.Volume, bool) {
	pv, ok := lookup(v.Volume, c.Volume)
	switch {
	case !ok:
		problem("volume %s: persistent volume %s of claim %s does not exist", m.Name, c.Volume, key)
		return out, false
	case pv.Deleting:
		problem("volume %s: persistent volume %s of claim %s is being deleted", m.Name, c.Volume, key)
		return out, false
	case !c.Bound:
		problem("volume %s: persistent volume claim %s is not bound to %s yet", m.Name, key, c.Volume)
		return out, false
	}
	out.Driver, out.Places = pv.Driver, pv.Places
	out.OneNode = pv.OneNode && v.attaches(pv.Driver)
	if pv.Handle != "" {
		out.ID = pv.ID()
	}
	return out, true
}

// attaches reports whether volumes of the driver are attached to nodes. A driver
// that says nothing of it has them attached; without a driver there is nothing to attach.
func (v Volumes) attaches(driver string) bool {
	return driver != "" && (v.Unattached == nil || !v.Unattached(driver))
}

func lookup[K, V any](find func(K) (V, bool), k K) (V, bool) {
	if find == nil {
		var none V
		return none, false
	}
	return find(k)
}
