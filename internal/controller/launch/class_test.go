package launch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

// A class that says of itself that it is not ready gets no machine, whatever the
// driver could buy: its claims go, and an event says why. One that has not said it yet does.
func TestClassNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		ready metav1.ConditionStatus
		want  int
	}{
		"False": {metav1.ConditionFalse, 0},
		"True":  {metav1.ConditionTrue, 2},
		"Unset": {"", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newFixture(t)
				class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
				if tc.ready != "" {
					class.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: tc.ready, Reason: "ByHand", Message: "do not use it", LastTransitionTime: metav1.Now()}}
				}
				claims := x.claims(t)
				x.store = apitest.New(t, clock.Wall, class)
				for _, c := range claims {
					c.ResourceVersion, c.Spec.NodeClassRef = "", &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "n"}
					if err := x.store.Create(t.Context(), &c); err != nil {
						t.Fatal(err)
					}
				}
				said := record.NewFakeRecorder(100)
				x.tell(t, process{store: x.store, driver: x.driver, events: loop.NewEvents(clock.Wall, said), looks: 8, every: time.Second})
				if n := len(x.market.Everything()); n != tc.want {
					t.Errorf("%d machines were bought, want %d", n, tc.want)
				}
				if tc.want > 0 {
					return
				}
				for _, c := range x.claims(t) {
					if c.DeletionTimestamp == nil {
						t.Errorf("claim %s stays", c.Name)
					}
				}
				close(said.Events)
				why := false
				for e := range said.Events {
					why = why || strings.Contains(e, "class n is not ready: ByHand: do not use it")
				}
				if !why {
					t.Error("no event says why")
				}
			})
		})
	}
}
