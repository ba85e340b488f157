package class

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
)

// A claim whose hash another version wrote gets that of today also if it comes after its class has been marked: two
// controllers may overlap, and watches show one object before another.
func TestAClaimOfAnotherVersionMayComeLate(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	o := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	store := apitest.New(t, now, o)
	r := &NodeClasses{Client: store, Now: now}
	mark := func() {
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		if _, err := r.mark(t.Context(), o, "7"); err != nil {
			t.Fatal(err)
		}
	}
	mark()
	late := func(name, version string) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: version}}}
		c.Spec.NodeClassRef = &v1.NodeClassReference{Group: awsv1.Group, Kind: kind, Name: o.Name}
		if err := store.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, tc := range map[string]struct{ version, want string }{
		"other": {"v3", "7"},
		"ours":  {awsv1.HashVersion, "1"},
	} {
		c := late(name, tc.version)
		if got := len(r.ofClaim(t.Context(), c)) == 1; got != (name == "other") {
			t.Errorf("%s: its class is looked at: %t", name, got)
		}
		mark()
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			t.Fatal(err)
		}
		if got := c.Annotations[awsv1.AnnotationHash]; got != tc.want {
			t.Errorf("%s has the hash %s, want %s", name, got, tc.want)
		}
	}
}
