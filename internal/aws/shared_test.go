package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// reads are the calls by which it is found what classes select, and what machines of them can be.
var reads = []string{
	"DescribeSubnets", "DescribeSecurityGroups", "DescribeImages", "GetParameter", "DescribePlacementGroups", "DescribeCapacityReservations",
	"DescribeLaunchTemplates", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "DescribeCluster",
}

// templateOfClass is a template of the nth class of several.
func templateOfClass(n int) cloud.Template {
	name := fmt.Sprintf("class-%d", n)
	return cloud.Template{ID: world.TemplateID(name), Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}}
}

// What several classes ask of AWS in the same words is asked once, and so is what many machines of a class are compared with.
func TestClassesShareAnswers(t *testing.T) {
	everything := func(c *nodeclass.Class) {
		c.UID = c.Ref.Name
		c.Role, c.Profile = "", "mine"
		c.PlacementGroup = &nodeclass.Selector{Name: "near"}
		c.Reservations = []nodeclass.ReservationSelector{{Selector: nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a"}}}}}}
	}
	own := func(c *nodeclass.Class) {
		c.UID = c.Ref.Name
		c.Legacy, c.LaunchTemplate, c.Groups, c.Images, c.Role, c.Profile = true, "mine", nil, nil, "", ""
	}
	for name, change := range map[string]func(*nodeclass.Class){"EC2NodeClasses": everything, "OwnTemplate": own} {
		t.Run(name, func(t *testing.T) {
			credentials(t)
			one, several := readsOf(t, change, 1, 1), readsOf(t, change, 8, 25)
			asked := 0
			for _, action := range slices.Concat(reads, []string{"GetInstanceProfile"}) {
				if asked += one[action]; one[action] != several[action] {
					t.Errorf("%s: asked %d times for one class with a machine, and %d times for 8 equal ones with 25 each", action, one[action], several[action])
				}
			}
			if asked < 10 {
				t.Errorf("in five minutes only %d questions were asked in all", asked)
			}
		})
	}
}

// readsOf counts the calls in five minutes in which all is looked at every ten seconds that controllers look at.
func readsOf(t *testing.T, change func(*nodeclass.Class), classes, machines int) map[string]int {
	t.Helper()
	calls := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		w := &virtual{t: t, change: change, heard: func(_, action string) {
			mu.Lock()
			defer mu.Unlock()
			calls[action]++
		}}
		m := w.account().Market
		_, err := m.CreateTemplate(market.NewTemplate{Name: "mine"})
		if err == nil {
			_, err = m.CreateProfile("mine", "/", nil)
		}
		if err == nil {
			err = m.AddRoleToProfile("mine", "KarpenterNodeRole-demo")
		}
		if err != nil {
			t.Fatal(err)
		}
		m.AddPlacementGroup(market.PlacementGroup{Name: "near", Strategy: "cluster"})
		m.AddReservation(market.Reservation{Type: "m5.large", Zone: "us-west-2a", Total: 3, Tags: market.Tags{"team": "a"}})
		d := w.start()
		end := time.Now().Add(5 * time.Minute)
		for time.Now().Before(end) {
			var all sync.WaitGroup
			for n := range classes {
				all.Go(func() {
					if i, err := d.Inspect(t.Context(), templateOfClass(n).Class); err != nil || len(i.Broken) > 0 {
						t.Errorf("class %d: %v, %v", n, err, i.Broken)
					}
				})
				all.Go(func() {
					if c, err := d.Catalog(t.Context(), templateOfClass(n)); err != nil || len(c.Shapes) == 0 {
						t.Errorf("class %d: %d types, %v", n, len(c.Shapes), err)
					}
				})
				for i := range machines {
					all.Go(func() {
						if _, err := d.Drift(t.Context(), cloud.Machine{ID: cloud.MachineID(fmt.Sprintf("i-%d-%d", n, i))}, templateOfClass(n)); err != nil {
							t.Errorf("machine %d of class %d: %v", i, n, err)
						}
					})
				}
			}
			all.Wait()
			time.Sleep(10 * time.Second)
		}
	})
	return calls
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
