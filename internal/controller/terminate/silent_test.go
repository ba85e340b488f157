package terminate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
)

// silent is a cloud that answers only when it is told to.
type silent struct {
	fakeCloud
	err error
}

func (s *silent) List(ctx context.Context) ([]cloud.Machine, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.fakeCloud.List(ctx)
}

// A machine is gone only when the cloud has said so: while it does not answer, a
// node whose kubelet is silent as well keeps its finalizer, and so the guard of
// its pods. When it answers that the machine is gone, the node goes at once.
func TestACloudThatDoesNotAnswerHasNotSaidGone(t *testing.T) {
	for _, failure := range []error{errors.New("connection refused"), cloud.Errorf(cloud.Throttled, "", "slow down"), cloud.Errorf(cloud.Unauthorised, "", "the token has expired")} {
		t.Run(failure.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const id = "test:///i-1"
				claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
				claim.Status.ProviderID, claim.Status.NodeName = id, "n"
				claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
				claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
				node := &corev1.Node{
					ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{v1.Finalizer}}, Spec: corev1.NodeSpec{ProviderID: id},
					Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}},
				}
				pod := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Annotations: map[string]string{v1.AnnotationDoNotDisrupt: "true"}},
					Spec:       corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
				}
				store := apitest.New(t, clock.Wall, claim, node, pod)
				sells := &silent{fakeCloud: fakeCloud{check: func() {}}, err: failure}
				state := cluster.New(clock.Wall)
				machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, clock.Wall)
				hand := &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
				nodes := &terminate.Nodes{Client: store, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Now: clock.Wall, Log: logr.Discard()}
				if err := store.Delete(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				for range 60 {
					apitest.Show(t, store, state)
					apitest.Step(t, nodes, "n")
					time.Sleep(time.Second) // of virtual time
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
					t.Fatalf("it was not said that the machine is gone, and the node was let go with its pod on it: %v", err)
				}
				sells.err, sells.gone = nil, true
				for range 10 {
					apitest.Step(t, nodes, "n")
					time.Sleep(time.Second)
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); !apierrors.IsNotFound(err) {
					t.Errorf("the machine is gone, and its node stays: %v", err)
				}
			})
		})
	}
}

// A machine whose claim was never matched with a node, because two say that they
// are it, is not ended under the pods of either.
func TestAMachineOfTwoNodesIsDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = "test:///i-1"
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
		claim.Status.ProviderID = id
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		claim.Conditions().False(v1.ConditionRegistered, v1.ReasonMultipleNodesFound, "two", time.Now())
		well := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
		objects := []client.Object{claim}
		for _, name := range []string{"n", "m"} {
			objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: id}, Status: well})
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Annotations: map[string]string{v1.AnnotationDoNotDisrupt: "true"}},
			Spec:       corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		store := apitest.New(t, clock.Wall, append(objects, pod)...)
		sells := &fakeCloud{}
		sells.check = func() {
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
				t.Errorf("the machine ends under a pod: %v", err)
			}
		}
		state := cluster.New(clock.Wall)
		machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, clock.Wall)
		hand := &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
		nodes := &terminate.Nodes{Client: store, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Now: clock.Wall, Log: logr.Discard()}
		claims := &terminate.Claims{Client: store, Cluster: state, Machines: machines, Now: clock.Wall}
		if err := store.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		live := func() {
			for range 60 {
				apitest.Show(t, store, state)
				apitest.Step(t, claims, "c")
				apitest.Step(t, nodes, "n", "m")
				time.Sleep(time.Second) // of virtual time
			}
		}
		live()
		if sells.gone {
			t.Error("the pod forbids it, and the machine has ended")
		}
		if err := store.Delete(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		live()
		if !sells.gone {
			t.Error("the pod is gone, and the machine runs on")
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); !apierrors.IsNotFound(err) {
			t.Errorf("the claim stays: %v", err)
		}
	})
}
