package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// templateOfClass is a template of the nth class of several.
func templateOfClass(n int) cloud.Template {
	name := fmt.Sprintf("class-%d", n)
	return cloud.Template{ID: world.TemplateID(name), Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}}
}

// An image that both kinds of classes select by the same tags is for different machines in each: only in the older one do its tags say for which.
func TestClassesOfBothErasShareNoImages(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		tags := nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a"}}}}
		w := &virtual{t: t, change: func(c *nodeclass.Class) {
			c.UID = c.Ref.Name
			c.Images = []nodeclass.ImageSelector{{Selector: tags, Legacy: c.Ref.Name == "class-1"}}
		}}
		w.account().Market.AddImage(market.Image{Name: "own", Arch: "x86_64", Owner: "123456789012", Tags: market.Tags{"team": "a", "karpenter.k8s.aws/instance-family": "g5"}})
		d := w.start()
		for _, n := range []int{0, 1, 0} {
			c, err := d.Catalog(t.Context(), templateOfClass(n))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, s := range c.Shapes {
				family, _, _ := strings.Cut(s.Name, ".")
				got[family] = true
			}
			if !got["g5"] || got["m5"] != (n == 0) {
				t.Errorf("class %d has types of the families %v", n, got)
			}
		}
	})
}
