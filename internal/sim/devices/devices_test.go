package devices

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

func TestSlices(t *testing.T) {
	for name, c := range map[string]struct {
		why, text string
		want      map[string][]string // devices by slice; nil: nothing is published
		fails     bool
	}{
		"None":   {why: "A pool that states nothing has nodes without devices."},
		"Meets":  {why: "Of templates those count that the node meets.", text: `[{driver: a.example.com, devices: [{name: x}]}, {driver: a.example.com, requirements: [{key: family, operator: In, values: [g5]}], devices: [{name: w}]}, {driver: a.example.com, requirements: [{key: family, operator: NotIn, values: [g5]}], devices: [{name: z}]}]`, want: map[string][]string{"n-a.example.com": {"x", "w"}}},
		"Driver": {why: "Each driver publishes its own.", text: `[{driver: b.example.com, devices: [{name: x}]}, {driver: a.example.com, devices: [{name: x}]}]`, want: map[string][]string{"n-a.example.com": {"x"}, "n-b.example.com": {"x"}}},
		"Twice":  {why: "Of two of one name the first counts.", text: `[{driver: a.example.com, devices: [{name: x}]}, {driver: a.example.com, devices: [{name: x}, {name: w}]}]`, want: map[string][]string{"n-a.example.com": {"x", "w"}}},
		"Wrong":  {why: "What cannot be read is not published in part.", text: `[{driver: a.example.com, devices: [{name: x}]}, {driver: b}, {}]`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{v1.AnnotationDevices: c.text}}}
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", Labels: map[string]string{"family": "g5"}}}
			all, err := slicesOf(p, n)
			if (err != nil) != c.fails {
				t.Fatalf("%s It says %v", c.why, err)
			}
			var got map[string][]string
			for _, s := range all {
				if got == nil {
					got = map[string][]string{}
				}
				for _, d := range s.Spec.Devices {
					got[s.Name] = append(got[s.Name], d.Name)
				}
				if *s.Spec.NodeName != "n" || s.OwnerReferences[0].UID != "u" || s.Spec.Pool.ResourceSliceCount != 1 {
					t.Errorf("a slice is %+v", s)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.why, diff)
			}
		})
	}
}
