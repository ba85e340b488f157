package document000_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("000")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours = "karpenter.sh/provisioner-name"
	soon = time.Minute
)

// The document's pod where its zones exist, and the clean-up.
func TestDocument(t *testing.T) {
	r := walk.Open(t, "000")
	r.Follow("install")
	elsewhere(t, r)
	there(t, r)
	preferred(t, r)
	cleanUp(t, r)
}

// elsewhere is a cluster whose only pools exclude the document's zones.
func elsewhere(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("elsewhere")
	line := r.Says(soon, "ERROR", `Could not schedule pod, .*antarctica.*`, `"pod": "default/nginx"`)
	for _, clause := range []string{
		`incompatible with provisioner "west", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [antarctica-east1 antarctica-west1] not in topology.kubernetes.io/zone In [us-west-2a]`,
		`incompatible with provisioner "other", did not tolerate key2=value1:NoSchedule`,
	} {
		if !strings.Contains(line.Message, clause) {
			t.Errorf("the line has no clause %s\n%s", clause, line.Message)
		}
	}
	book.Shows(t, "0.4", "the pod tolerates key1's taint and is refused for its zones alone; key2's it does not tolerate")
	book.Shows(t, "0.5", "the line names both sides, and the event with it")
	r.Event(soon, "default", "FailedScheduling", `Failed to schedule pod, .*antarctica-east1.*`)
	relaxed := r.Says(soon, "DEBUG", `Relaxing soft constraints for pod since it previously failed to schedule, removing: .*`, `"pod": "default/nginx"`)
	const term = `spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]={"weight":1,"preference":{"matchExpressions":[{"key":"another-node-label-key","operator":"In","values":["another-node-label-value"]}]}}`
	if !strings.HasSuffix(relaxed.Message, term) {
		t.Errorf("%s does not end with %s", relaxed.Message, term)
	}
	book.Shows(t, "0.6", "the line, with the term as JSON and its path")
}

// there is a pool in one of the document's zones.
func there(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("there")
	r.Line(soon, `Launching node with 1 pods requesting \{"cpu":"125m","pods":"3"\} from types .*`)
	book.Shows(t, "0.16", "the launching line: the pod adds nothing but itself to the daemons' requests")
	book.Shows(t, "0.2", "pending first, then the launch, within seconds")
	r.Within(2*time.Minute, func() error {
		p := r.Kubectl("get", "pod", "nginx", "-o", "jsonpath={.status.phase} {.spec.nodeName}")
		if !strings.HasPrefix(p, "Running ip-") {
			return fmt.Errorf("the pod is %s", p)
		}
		return nil
	})
	nodes, err := r.Nodes(ours + "=south,topology.kubernetes.io/zone=antarctica-west1")
	if err != nil || len(nodes) != 1 {
		t.Errorf("%d nodes in the zone: %v", len(nodes), err)
	}
	book.Shows(t, "0.1", "the machine is in the template's subnets, with its groups")
	book.Shows(t, "0.3", "the pod runs only where its tolerations and its affinity let it")
}

// preferred is a pool whose nodes have the label that the pod would like.
func preferred(t *testing.T, r *walk.Reader) {
	r.Follow("preferred")
	r.Within(2*time.Minute, func() error {
		nodes, err := r.Nodes(ours + "=liked")
		if err == nil && len(nodes) != 1 {
			err = fmt.Errorf("%d nodes of the Provisioner with the label", len(nodes))
		}
		return err
	})
	book.Shows(t, "0.15", "two Provisioners suit; the pod's node is that of the one with the label")
}

// cleanUp is the document's end, with what eksctl and CloudFormation do done by the account's end.
func cleanUp(t *testing.T, r *walk.Reader) {
	r.Follow("nodes")
	if m := r.Machines(); len(m) != 0 {
		t.Errorf("%d machines run after kubectl delete node has returned", len(m))
	}
	book.Shows(t, "0.7", "kubectl returns when the node has been drained and its machine ended")
	r.Follow("uninstall")
	if out := r.Kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "name"); strings.Contains(out, "karpenter") {
		t.Errorf("webhooks are left: %s", out)
	}
	if out := r.Kubectl("get", "crds", "-o", "name"); !strings.Contains(out, "provisioners.karpenter.sh") {
		t.Error("the kinds are gone")
	}
	book.Shows(t, "0.8", "no webhook is left, the kinds are")

	stack := []string{"Version", "2010-05-15", "StackName", "Karpenter-" + r.Vars["CLUSTER_NAME"]}
	r.Must(r.AWS("cloudformation", "DescribeStacks", stack...))
	r.Must(r.AWS("cloudformation", "DeleteStack", stack...))
	if out, err := r.AWS("cloudformation", "DescribeStacks", stack...); err == nil {
		t.Errorf("the stack is still there: %s", out)
	}
	if out, err := r.AWS("iam", "GetRole", "Version", "2010-05-08", "RoleName", "KarpenterNodeRole-"+r.Vars["CLUSTER_NAME"]); err == nil {
		t.Errorf("the role of nodes outlives the stack: %s", out)
	}
	book.Shows(t, "0.9", "the same call by the SDK: the stack goes, and what it held with it")
	c := r.EC2()
	out, err := c.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{
		{Name: aws.String("tag:karpenter.k8s.aws/cluster"), Values: []string{"playground"}},
	}})
	if err != nil || len(out.LaunchTemplates) == 0 {
		t.Fatalf("launch templates by tag: %v", err)
	}
	for _, l := range out.LaunchTemplates {
		if _, err := c.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: l.LaunchTemplateName}); err != nil {
			t.Error(err)
		}
	}
	book.Shows(t, "0.10", "the same calls by the SDK: the filter finds them, they go by name")
	if m := r.Machines(); len(m) != 0 {
		t.Errorf("%d machines are left", len(m))
	}
	book.Shows(t, "0.11", "no machine is left that could keep the cluster")
	book.Shows(t, "X12", "after the commands: no machine, no node, no launch template of the cluster")
}
