package playground

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestWhatTheCloudSellsJoinsAndWhatItEndsFallsSilent(t *testing.T) {
	c := kubetest.Client(t)
	types, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cluster := &kube.ControlPlane{URL: kubetest.Config(t).Host, Kubeconfig: kubetest.Kubeconfig(t)}
	o := Options{
		Dir: Dir(t.TempDir()), Region: "us-west-2", ClusterName: "playground", Now: clock.Wall, Life: io.Discard,
		Timing: market.Timing{Boot: 10 * time.Millisecond, ShutDown: 10 * time.Millisecond, Forget: time.Hour, PricePeriod: time.Hour},
	}
	log := &life{now: o.Now, out: o.Life}
	fleet := kubelet.New(kubelet.Options{Nodes: kubernetes.NewForConfigOrDie(kubetest.Config(t)).CoreV1().Nodes(), Endpoint: cluster.URL})
	defer fleet.Close()
	ctx, stop := context.WithCancel(t.Context())
	aws, err := (&ground{Options: o, cluster: cluster, types: types, fleet: fleet, log: log}).startCloud(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); <-aws.done }()

	userData := fmt.Sprintf("#!/bin/bash\n/etc/eks/bootstrap.sh 'playground' --apiserver-endpoint '%s' --kubelet-extra-args '--node-labels=karpenter.sh/nodepool=default --max-pods=12'\n", cluster.URL)
	subnet := aws.Market.Subnets()[0]
	bought, err := aws.Market.RunInstances(market.RunRequest{
		Subnet: subnet.ID, Min: 2, Max: 2,
		Data: market.TemplateData{Image: image(aws.Market), Type: "c5.xlarge", Devices: []market.Device{{Name: "/dev/xvda", SizeGiB: new(77)}}, UserData: base64.StdEncoding.EncodeToString([]byte(userData))},
	})
	if err != nil {
		t.Fatal(err)
	}
	node := func(i market.Instance) (*corev1.Node, error) {
		var n corev1.Node
		return &n, c.Get(t.Context(), client.ObjectKey{Name: i.DNS}, &n)
	}
	for _, i := range bought {
		kubetest.Within(t, 20*time.Second, func() error {
			n, err := node(i)
			if err == nil && readiness(n) != "ready" {
				err = fmt.Errorf("node %s is %s", n.Name, readiness(n))
			}
			return err
		})
		n, err := node(i)
		if err != nil {
			t.Fatal(err)
		}
		if n.Labels["karpenter.sh/nodepool"] != "default" || n.Labels[corev1.LabelTopologyZone] != subnet.Zone || n.Labels[corev1.LabelInstanceTypeStable] != "c5.xlarge" ||
			n.Status.Allocatable.Pods().Value() != 12 || n.Status.Capacity.StorageEphemeral().Value() != 77<<30 || n.Spec.ProviderID != "aws:///"+subnet.Zone+"/"+i.ID {
			t.Errorf("the node is not the machine: %v %v %s", n.Labels, n.Status.Allocatable, n.Spec.ProviderID)
		}
	}
	if _, err := aws.Market.Terminate([]string{bought[0].ID}); err != nil {
		t.Fatal(err)
	}
	if err := aws.kill(t.Context(), fleet, bought[1].ID); err != nil {
		t.Fatal(err)
	}
	for _, i := range bought {
		kubetest.Within(t, 20*time.Second, func() error {
			n, err := node(i)
			if err == nil && (n.Annotations[kubelet.HeartbeatAnnotation] != "" || n.Annotations[kubelet.SilentAnnotation] != "dead") {
				err = fmt.Errorf("node %s still has a heartbeat", n.Name)
			}
			return err
		})
	}
	if found, err := aws.Market.Find([]string{bought[1].ID}); err != nil || !found[0].State.Gone() {
		t.Errorf("the market has not heard of the death: %v, %v", found, err)
	}
}

func image(m *market.Market) string {
	for _, i := range m.Images() {
		if i.Arch == "x86_64" && i.Platform == "" {
			return i.ID
		}
	}
	return ""
}
