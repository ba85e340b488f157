package terminate_test

import (
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
)

// A claim that ends before its node registered waits until its machine would be
// listed. A clock that was set back by an hour meanwhile does not make that an hour.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1", Finalizers: []string{v1.Finalizer}}}
		claim.Status.ProviderID = "test:///i-1"
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		store, picture := apitest.New(t, clock.Wall, claim), cluster.New(clock.Wall)
		back := func() time.Time { return time.Now().Add(-time.Hour) }
		sells := &silent{seller: seller{check: func() {}, gone: true}}
		claims := &terminate.Claims{Client: store, Cluster: picture, Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, back), Now: back}
		if err := store.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		gone := func(span time.Duration) bool {
			for range int(span / time.Second) {
				apitest.Show(t, store, picture)
				apitest.Step(t, claims, "c")
				time.Sleep(time.Second)
			}
			return apierrors.IsNotFound(store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
		}
		if gone(cloud.Unlisted - 2*time.Second) {
			t.Error("the claim is gone before its machine would be listed")
		}
		if !gone(time.Minute) {
			t.Error("two minutes later the claim still waits for the old time")
		}
	})
}
