package aws_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/collect"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// EKS tags the machines of its node groups as the cluster's. They are never taken for the controller's own: not listed,
// not collected, and their nodes not adopted, even where someone gave such a node the label of a pool.
func TestMachinesOfANodeGroupAreLeftAlone(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		m := w.account().Market
		group, err := w.account().LaunchGroup(awsapi.NodeGroup{Name: "managed", Type: "m5.large", Count: 2})
		if err != nil {
			t.Fatal(err)
		}
		d := w.start()
		own := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]
		if own.Err != nil {
			t.Fatal(own.Err)
		}
		if group[0].Tags["kubernetes.io/cluster/demo"] != "owned" || group[0].Tags["eks:cluster-name"] != "demo" || group[0].Tags[awsapi.TagNodeGroup] != "managed" {
			t.Fatalf("the tags are not those of EKS: %v", group[0].Tags)
		}
		var seen collect.Seen
		var ids []string
		for _, i := range group {
			id := "aws:///" + i.Zone + "/" + i.ID
			ids = append(ids, id)
			seen.Nodes = append(seen.Nodes, corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: i.DNS, Labels: map[string]string{"karpenter.sh/nodepool": "general"}, CreationTimestamp: metav1.Now()},
				Spec:       corev1.NodeSpec{ProviderID: id},
			})
		}
		var verdict collect.Verdict
		for range 4 {
			time.Sleep(10 * time.Minute)
			if seen.Machines, err = d.List(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(seen.Machines) != 1 || seen.Machines[0].ID != own.Machines[0].ID {
				t.Fatalf("listed are %v, want %s alone", seen.Machines, own.Machines[0].ID)
			}
			seen.At = time.Now()
			verdict = collect.Judge(seen, verdict)
			if err := d.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if len(verdict.Adopt) != 0 || len(verdict.Strange) != 2 || len(verdict.End) != 1 || verdict.End[0].ID != own.Machines[0].ID {
			t.Errorf("adopts %v, wonders at %d nodes, ends %v: want the nodes left alone and the machine without a node ended", verdict.Adopt, len(verdict.Strange), verdict.End)
		}
		found, err := d.Find(t.Context(), ids)
		if err != nil || len(found) != 2 {
			t.Fatalf("found %v, %v", found, err)
		}
		for _, f := range found {
			if !strings.HasPrefix(f.Foreign, "Auto Scaling group eks-managed-") || f.Unlisted == "" {
				t.Errorf("machine %s is foreign %q, unlisted %q", f.ID, f.Foreign, f.Unlisted)
			}
		}
		for _, i := range m.Instances() {
			if i.Tags[awsapi.TagNodeGroup] != "" && i.State != market.Running {
				t.Errorf("machine %s of the group is %s", i.ID, i.State)
			}
		}
	})
}
