package document004_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("004")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours = "karpenter.sh/provisioner-name=gpu"
	soon = time.Minute
)

// The document from the Provisioner to six ResNet pods on GPUs, and back.
func TestDocument(t *testing.T) {
	r := walk.Open(t, "004")
	r.Follow("cluster")
	others, err := r.Nodes("")
	if err != nil {
		t.Fatal(err)
	}
	install(t, r)
	provisioner(t, r)
	first(t, r)
	six(t, r)
	autoscaled(t, r)
	none(t, r)
	still, err := r.Nodes("")
	if err != nil || len(still) < len(others) {
		t.Errorf("%d nodes are left of the %d that others made: %v", len(still), len(others), err)
	}
	book.Shows(t, "4.2", "three m5.large of a managed group, there before and after")
}

// install is the document's way to the chart: a classic repository, and the values of its time.
func install(t *testing.T, r *walk.Reader) {
	r.Follow("install")
	book.Shows(t, "4.6", "the three commands against the playground's repository, which lists v0.6.3: every value is taken, and `--wait` ends")
	log := r.Kubectl("logs", "-n", "karpenter", "-l", "app.kubernetes.io/name=karpenter", "-c", "controller", "--tail=-1")
	if !strings.Contains(log, "\tDEBUG\t") {
		t.Errorf("logLevel=debug is not in force:\n%.2000s", log)
	}
	book.Shows(t, "4.18", "the command as it stands shows the log, debug lines with it")
}

func provisioner(t *testing.T, r *walk.Reader) {
	r.Follow("provisioner")
	book.Shows(t, "4.7", "applied as it stands; the machines are of these types")
	book.Shows(t, "4.9", "accepted; it counts every GPU (decision 4): all six are within 100")
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: plain, namespace: default}, spec: {containers: [{name: plain, image: pause, resources: {requests: {cpu: "100"}}}]}}`)
	const clause = `incompatible with provisioner "gpu", did not tolerate nvidia\.com/gpu=:NoSchedule`
	r.Says(soon, "ERROR", `Could not schedule pod, `+clause, `"pod": "default/plain"`)
	r.Event(soon, "default", "FailedScheduling", `Failed to schedule pod, `+clause)
	if n := len(r.Calls("ec2", "CreateFleet")); n > 0 {
		t.Errorf("%d machines were bought for it", n)
	}
	book.Shows(t, "4.27", "a plain pod: line and event, no CreateFleet")
	r.Kubectl("delete", "pod", "plain", "--wait=false")
}

// first is the service with one pod.
func first(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("first pod")
	r.Prompt("default", "app=resnet-server")
	r.Says(soon, "INFO", `Found 1 provisionable pod\(s\)`)
	r.Says(soon, "INFO", `Launching node with 1 pods requesting \{"cpu":"125m","nvidia.com/gpu":"1","pods":"3"\} from types g4dn\.xlarge, g4dn\.2xlarge`, `"provisioner": "gpu"`)
	r.Says(soon, "INFO", `Launched instance: i-[0-9a-f]+, hostname: ip-192-168-\d+-\d+\.us-west-2\.compute\.internal, type: g4dn\.xlarge, zone: us-west-2[a-d], capacityType: on-demand`)
	r.Running(2*time.Minute, "default", "app=resnet-server", 1)
	book.Shows(t, "4.13", "applied as it stands: the toleration without value meets the taint")
	book.Shows(t, "4.16", "applied as it stands; neither keeps the pod from its place")
	if calls := r.Calls("ssm", "GetParameter*"); !slices.ContainsFunc(calls, func(c walk.Call) bool {
		return strings.Contains(fmt.Sprint(c.Params), "/aws/service/eks/optimized-ami/1.21/amazon-linux-2-gpu/")
	}) {
		t.Errorf("no call asks SSM for the GPU image of 1.21: %v", calls)
	} else {
		book.Shows(t, "4.14", "the recorded call to SSM asks for the GPU image; the node has the GPU; a Service is applied, its load balancer is not ours")
	}
	nodes, err := r.Nodes(ours)
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%d nodes: %v", len(nodes), err)
	}
	n := nodes[0]
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == "nvidia.com/gpu" && t.Value == "" && t.Effect == corev1.TaintEffectNoSchedule
	}) {
		t.Errorf("taints of the node: %v", n.Spec.Taints)
	}
	book.Shows(t, "4.8", "the node carries the taint, without a value")
	if gpus := n.Status.Capacity["nvidia.com/gpu"]; gpus.Value() != 1 {
		t.Errorf("the node has %s GPUs", gpus.String())
	}
	book.Shows(t, "4.15", "the pod runs on a node that reports one GPU; what runs in it is not simulated")
}

// six is the document's step from one pod to six.
func six(t *testing.T, r *walk.Reader) {
	balanced(t, r)
	r.Over()
	before := len(r.Calls("ec2", "CreateFleet"))
	r.Follow("six pods")
	r.Says(soon, "INFO", `Found 5 provisionable pod\(s\)`)
	book.Shows(t, "4.17", "one batch of five")
	r.Event(soon, "default", "Nominated", `Pod should schedule on ip-192-168-\d+-\d+\.us-west-2\.compute\.internal`)
	r.Running(2*time.Minute, "default", "app=resnet-server", 6)
	machines := r.Machines()
	for _, m := range machines {
		if m.Type != "g4dn.xlarge" || m.CapacityType != "on-demand" {
			t.Errorf("machine %s is a %s %s", m.ID, m.CapacityType, m.Type)
		}
	}
	if len(machines) != 6 {
		t.Errorf("%d machines run, want 6", len(machines))
	}
	bought := 0
	for _, c := range r.Calls("ec2", "CreateFleet")[before:] {
		if c.Params["OnDemandOptions.AllocationStrategy"] != "lowest-price" || c.Params["Type"] != "instant" {
			t.Errorf("a fleet request is %v", c.Params)
		}
		n, err := strconv.Atoi(c.Params["TargetCapacitySpecification.TotalTargetCapacity"])
		if err != nil {
			t.Error(err)
		}
		bought += n
	}
	if bought != 5 {
		t.Errorf("the fleet requests ask for %d machines, want 5", bought)
	}
	book.Shows(t, "4.1", "the recorded call is CreateFleet of type instant")
	book.Shows(t, "4.19", "recorded CreateFleet for five in all, one call unless the claims come too slowly; five more g4dn.xlarge")
	book.Shows(t, "4.20", "lowest-price over both types; EC2 gives the cheaper")
	if n := r.Count("Created launch template"); n != 0 {
		t.Errorf("%d more launch templates were made for the same machines", n)
	}
	book.Shows(t, "4.25", "one Provisioner, six pods, six nodes")
	for _, c := range r.Calls("ec2", "DescribeSecurityGroups") {
		if text := fmt.Sprint(c.Params); strings.Contains(text, "tag:kubernetes.io/cluster/karpenter-cluster") && strings.Contains(text, "owned") {
			book.Shows(t, "4.10", "the recorded calls ask for the tags, one with slashes in its key")
		}
	}
}

// autoscaled is the document's picture: an autoscaler of pods, and nodes that follow it.
func autoscaled(t *testing.T, r *walk.Reader) {
	r.Follow("autoscaler of pods")
	r.Follow("more requests")
	for _, m := range r.Machines() {
		if m.Type != "g4dn.xlarge" {
			t.Errorf("machine %s is a %s", m.ID, m.Type)
		}
	}
	book.Shows(t, "4.26", "a HorizontalPodAutoscaler by a metric that the run feeds: 6 pods to 1 and back to 6, the nodes 30 s behind on the way down")
}

// balanced is what another product, for which this run stands, writes to the Service; the document's command reads it.
func balanced(t *testing.T, r *walk.Reader) {
	t.Helper()
	r.Kubectl("patch", "service", "resnet-service", "--subresource=status", "--type=merge", "-p", `{"status":{"loadBalancer":{"ingress":[{"hostname":"resnet.elb.us-west-2.amazonaws.com"}]}}}`)
}

// none is the document's end.
func none(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Scale("resnet", 0)
	r.NoNodes(3*time.Minute, ours)
	r.InOrder(`Added TTL to empty node`, `Triggering termination after 30s for empty node`, `Cordoned node`, `Deleted node`)
	waited(t, r, 6, 30*time.Second)
	book.Shows(t, "4.11", "30 s after the last pod: the lines, and no node")
	if host := r.Kubectl("get", "svc", "resnet-service", "-o=jsonpath={.status.loadBalancer.ingress[0].hostname}"); host != "resnet.elb.us-west-2.amazonaws.com" {
		t.Errorf("the Service's host is %q", host)
	}
	book.Shows(t, "4.12", "another product, for which the run stands: the host that it writes is what the document's command reads, after nodes have come and gone, too")
	book.Shows(t, "4.22", "all six nodes and machines are gone")
}

// waited checks that so many nodes were known to be empty before they were let go, and that they were not let go at once. How long it
// was to the second depends on how busy the computer is: the lines come after what they tell of.
func waited(t *testing.T, r *walk.Reader, nodes int, ttl time.Duration) {
	t.Helper()
	since := map[string]time.Time{} // by node
	for _, l := range r.Lines(`Added TTL to empty node`) {
		since[l.Field("node")] = l.When()
	}
	ended := r.Lines(fmt.Sprintf(`Triggering termination after %s for empty node`, ttl))
	for _, l := range ended {
		if took := l.When().Sub(since[l.Field("node")]); took < ttl/2 {
			t.Errorf("node %s went %s after it was empty", l.Field("node"), took)
		}
	}
	if len(since) != nodes || len(ended) != nodes {
		t.Errorf("%d nodes are known to be empty and %d go, want %d of both", len(since), len(ended), nodes)
	}
}
