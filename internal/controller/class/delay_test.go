package class_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/class"
	"github.com/tenon-sh/tenon/internal/loop"
)

// A class that cannot be looked at for long says so: by an event, and where it is
// not ready yet by a condition. One that was ready stays so.
func TestInspectionThatIsThrottledForLong(t *testing.T) {
	for name, ready := range map[string]bool{"new": false, "looked at before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
				throttled := !ready
				told := record.NewFakeRecorder(100)
				r := &class.NodeClasses{Client: apitest.New(t, clock.Wall, o), Events: loop.NewEvents(clock.Wall, told), Now: clock.Wall}
				r.Cloud.Inspect = func(ctx context.Context, ref cloud.ClassRef) (class.Found, error) {
					if throttled {
						return class.Found{}, cloud.Errorf(cloud.Throttled, "", "describe subnets: RequestLimitExceeded")
					}
					return inspect(ctx, ref)
				}
				look := func() {
					_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
					if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
						t.Fatal(err)
					}
				}
				look()
				was := o.Conditions(true).Is("Ready")
				if len(told.Events) > 0 || was != ready {
					t.Fatalf("ready is %v after the first look, and it is told at once: %d events", was, len(told.Events))
				}
				throttled = true
				since := time.Now().UTC().Format(time.RFC3339) // no time has passed since the first look
				look()
				time.Sleep(time.Minute)
				look()
				look()
				want := "describe subnets: RequestLimitExceeded; tried since " + since
				if len(told.Events) != 1 {
					t.Fatalf("%d events tell of it", len(told.Events))
				}
				if e := <-told.Events; e != "Warning InspectionDelayed What the class selects cannot be found out: "+want {
					t.Errorf("it is told: %s", e)
				}
				said := o.Conditions(true).Get(awsv1.ConditionValidationSucceeded)
				if is := o.Conditions(true).Is("Ready"); is != was || !was && (said.Reason != awsv1.ReasonInspectionDelayed || said.Message != want) {
					t.Errorf("ready was %v, is %v, and it says %+v", was, is, said)
				}
				if was != (said.Status == metav1.ConditionTrue) || strings.Contains(said.Message, "since") == was {
					t.Errorf("ready was %v, and it says %+v", was, said)
				}
			})
		})
	}
}
