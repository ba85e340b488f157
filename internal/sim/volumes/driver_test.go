package volumes_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/volumes"
)

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

// start runs a driver and machines in two zones.
func start(t *testing.T) client.Client {
	set, err := kubernetes.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	fleet := kubelet.New(kubelet.Options{Nodes: set.CoreV1().Nodes()})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	driver := volumes.Driver{Client: set, Limit: func(*corev1.Node) int32 { return 3 }, Now: clock.Wall, Say: t.Logf}
	running.Go(func() { driver.Run(ctx) })
	t.Cleanup(func() { fleet.Close(); stop(); running.Wait() })
	for _, zone := range []string{"us-west-2a", "us-west-2b"} {
		err := fleet.Boot(kubelet.Machine{
			ID: "i-" + zone, ProviderID: "aws:///" + zone + "/i-" + zone, NodeName: zone,
			InstanceType: "m5.large", Zone: zone, Region: "us-west-2", UserData: []byte("#!/bin/bash\n/etc/eks/bootstrap.sh demo\n"),
			Capacity: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "ephemeral-storage": resource.MustParse("20Gi"), "pods": resource.MustParse("29")},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return kubetest.Client(t)
}

// TestVolumes follows volumes of a StatefulSet from nothing to nothing, through
// the binder, the scheduler and the attacher of Kubernetes.
func TestVolumes(t *testing.T) {
	c, ns := start(t), kubetest.Namespace(t)
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ebs-of-" + ns}, Provisioner: volumes.Name, VolumeBindingMode: &wait}
	set := statefulSet(t, ns, class.Name)
	for _, o := range []client.Object{class, set} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	// Six pods, three volumes a machine: all run, and no seventh could.
	kubetest.Within(t, time.Minute, func() error {
		var is appsv1.StatefulSet
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), &is); err != nil || is.Status.ReadyReplicas != 6 {
			return fmt.Errorf("%d pods are ready: %w", is.Status.ReadyReplicas, err)
		}
		return attached(t, c, 6)
	})
	var all corev1.PersistentVolumeList
	if err := c.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	zones := map[string]int{}
	for _, v := range all.Items {
		zones[v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]]++
	}
	if zones["us-west-2a"] != 3 || zones["us-west-2b"] != 3 {
		t.Errorf("volumes by zone: %v, want as many as a machine of the zone can attach", zones)
	}
	if err := c.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, time.Minute, func() error {
		if err := attached(t, c, 0); err != nil {
			return err
		}
		var left corev1.PersistentVolumeList
		if err := c.List(t.Context(), &left); err != nil || len(left.Items) != 0 {
			return fmt.Errorf("%d volumes are left: %w", len(left.Items), err)
		}
		return nil
	})
}

// attached is nil when so many volumes are on machines, and none is on its way.
func attached(t *testing.T, c client.Client, want int) error {
	var all storagev1.VolumeAttachmentList
	if err := c.List(t.Context(), &all); err != nil {
		return err
	}
	n := 0
	for _, a := range all.Items {
		if a.Status.Attached {
			n++
		}
	}
	if n != want || len(all.Items) != want {
		return fmt.Errorf("%d of %d attachments are attached, want %d", n, len(all.Items), want)
	}
	return nil
}

func statefulSet(t *testing.T, ns, class string) *appsv1.StatefulSet {
	text, err := os.ReadFile(filepath.Join("testdata", "set.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var s appsv1.StatefulSet
	if err := yaml.UnmarshalStrict(text, &s); err != nil {
		t.Fatal(err)
	}
	s.Namespace, s.Spec.VolumeClaimTemplates[0].Spec.StorageClassName = ns, &class
	return &s
}
