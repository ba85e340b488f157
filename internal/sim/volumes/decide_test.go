package volumes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func claim(change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", UID: "1", Annotations: map[string]string{annotationDriver: Name}}}
	change(c)
	return c
}

func class(mode storagev1.VolumeBindingMode, zones ...string) *storagev1.StorageClass {
	c := &storagev1.StorageClass{VolumeBindingMode: &mode}
	if zones != nil {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneOfDriver, Values: zones}},
		}}
	}
	return c
}

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
}

func TestWanted(t *testing.T) {
	waiting, atOnce := class(storagev1.VolumeBindingWaitForFirstConsumer), class(storagev1.VolumeBindingImmediate)
	for name, c := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		class  *storagev1.StorageClass
		want   bool
		why    string
	}{
		"at once":     {func(*corev1.PersistentVolumeClaim) {}, atOnce, true, "its class does not wait for a pod"},
		"no node yet": {func(*corev1.PersistentVolumeClaim) {}, waiting, false, "its zone would be a guess"},
		"for a node":  {func(c *corev1.PersistentVolumeClaim) { c.Annotations[annotationNode] = "a" }, waiting, true, "its pod's node is known"},
		"another's":   {func(c *corev1.PersistentVolumeClaim) { c.Annotations[annotationDriver] = "efs.csi.aws.com" }, atOnce, false, "another driver makes it"},
		"has one":     {func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" }, atOnce, false, "it has its volume"},
		"is going":    {func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }, atOnce, false, "it will not be used"},
		"old annotation": {func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{annotationDriverOfOld: Name}
		}, atOnce, true, "older clusters write only that"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wanted(claim(c.change), c.class); got != c.want {
				t.Errorf("%v: %s", got, c.why)
			}
		})
	}
}

func TestZone(t *testing.T) {
	nodes := []*corev1.Node{node("a", "zone-a"), node("b", "zone-b"), node("nowhere", "")}
	for name, c := range map[string]struct {
		node  string
		class *storagev1.StorageClass
		want  string
		why   string
	}{
		"with its node":     {"b", class(storagev1.VolumeBindingWaitForFirstConsumer), "zone-b", "a machine cannot reach another zone's volumes"},
		"node has gone":     {"c", class(storagev1.VolumeBindingWaitForFirstConsumer), "", "the scheduler chooses another"},
		"node in no zone":   {"nowhere", class(storagev1.VolumeBindingWaitForFirstConsumer), "", "it is not known where it stands"},
		"where it may be":   {"", class(storagev1.VolumeBindingImmediate, "zone-b"), "zone-b", "the class allows no other"},
		"without nodes":     {"", class(storagev1.VolumeBindingImmediate, "zone-c"), "zone-c", "the class allows no other, machines will come"},
		"class without any": {"", class(storagev1.VolumeBindingImmediate), "zone-a", "somewhere where machines are, always the same"},
	} {
		t.Run(name, func(t *testing.T) {
			pvc := claim(func(p *corev1.PersistentVolumeClaim) {
				if c.node != "" {
					p.Annotations[annotationNode] = c.node
				}
			})
			if got := Zone(pvc, c.class, nodes); got != c.want {
				t.Errorf("%q: %s", got, c.why)
			}
		})
	}
}
