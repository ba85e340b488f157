package class_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/class"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs("../../../api/crds")) }

// account is what classes select, and which of them were retired.
type account struct {
	mu      sync.Mutex
	retired []string
}

func (a *account) retire(_ context.Context, ref cloud.ClassRef) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.retired = append(a.retired, ref.Name)
	return nil
}

func inspect(context.Context, cloud.ClassRef) (class.Found, error) {
	f := found()
	f.Hash = "7"
	return f, nil
}

func start(t *testing.T) (client.Client, *account) {
	t.Helper()
	ctrllog.SetLogger(logr.Discard())
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, awsv1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	m, err := ctrl.NewManager(kubetest.Config(t), ctrl.Options{Scheme: known, Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	a := &account{}
	r := &class.NodeClasses{Client: m.GetClient(), Cloud: class.Cloud{Inspect: inspect, Retire: a.retire}, Now: clock.Wall}
	if err := r.Register(m); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return kubetest.Client(t, v1.AddToScheme, awsv1.AddToScheme), a
}

// A class says what it selects, and stays while a claim is made from it.
func TestLifeOfAClass(t *testing.T) {
	c, a := start(t)
	o := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       "nodes",
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"a": "b"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"a": "b"}}},
		},
	}
	claim := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "made", Annotations: map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: "v4"}},
		Spec: v1.NodeClaimSpec{
			Requirements: []v1.Requirement{}, NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}, ExpireAfter: v1.Never,
		},
	}
	for _, o := range []client.Object{claim, o} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	kubetest.Within(t, 10*time.Second, func() error {
		err := errors.Join(c.Get(t.Context(), client.ObjectKeyFromObject(o), o), c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
		switch {
		case err != nil:
			return err
		case !o.Conditions(false).Is("Ready") || len(o.Status.Subnets) != 1 || o.Status.InstanceProfile != "nodes":
			return fmt.Errorf("status is %+v", o.Status)
		case !controllerutil.ContainsFinalizer(o, awsv1.Finalizer) || o.Annotations[awsv1.AnnotationHash] != "7":
			return fmt.Errorf("finalizers %v, annotations %v", o.Finalizers, o.Annotations)
		case claim.Annotations[awsv1.AnnotationHash] != "7" || claim.Annotations[awsv1.AnnotationHashVersion] != awsv1.HashVersion:
			return fmt.Errorf("a claim of another controller keeps its hash: %v", claim.Annotations)
		}
		return nil
	})
	if err := c.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatalf("the class went before its claim: %v", err)
	}
	if err := c.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 15*time.Second, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the class is still there: %w", errors.Join(err, fmt.Errorf("finalizers %v", o.Finalizers)))
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.retired) != 1 {
			return fmt.Errorf("retired: %v", a.retired)
		}
		return nil
	})
}
