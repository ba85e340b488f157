package document002_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("002")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours = "karpenter.sh/provisioner-name"
	soon = time.Minute
)

// The document's spread, in every zone and in one.
func TestDocument(t *testing.T) {
	r := walk.Open(t, "002")
	install(t, r)
	fields(t, r)
	spread(t, r)
	oneZone(t, r)
	fewNodes(t, r)
}

// install is the chart, and what it consists of.
func install(t *testing.T, r *walk.Reader) {
	r.Follow("install")
	pods, err := r.Pods("karpenter", "app.kubernetes.io/name=karpenter")
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]bool{}
	for _, p := range pods {
		if !strings.HasPrefix(p.Spec.NodeName, "fargate-ip-192-168-") || !strings.HasSuffix(p.Spec.NodeName, ".ap-northeast-2.compute.internal") || len(p.Spec.Containers) != 1 {
			t.Errorf("pod %s has %d containers and runs on %s", p.Name, len(p.Spec.Containers), p.Spec.NodeName)
		}
		on[p.Spec.NodeName] = true
	}
	if len(on) != 2 {
		t.Errorf("the controllers run on %v", on)
	}
	book.Shows(t, "2.10", "the command shows two pods, 1/1, each on a node of Fargate, by the names of the document")
	r.Follow("components")
	r.Within(soon, func() error {
		data := r.Kubectl("get", "secret", "karpenter-cert", "-n", "karpenter", "-o", "jsonpath={.data}")
		for _, key := range []string{"server-key.pem", "server-cert.pem", "ca-cert.pem"} {
			if !strings.Contains(data, `"`+key+`":"`) {
				return fmt.Errorf("the certificate's Secret has no %s", key)
			}
		}
		return nil
	})
	book.Shows(t, "2.14", "the parts of the installed chart; the running controller has filled the Secret with key, certificate and authority")
}

// fields are what the document says of AWSNodeTemplate and belongs elsewhere.
func fields(t *testing.T, r *walk.Reader) {
	manifest := r.Read("002-provisioner.RECONSTRUCTED.yaml") + "  instanceType: c5.large\n"
	out, err := r.Run(manifest, "kubectl", "apply", "-f", "-")
	if err == nil || !strings.Contains(out, "instanceType") {
		t.Errorf("an AWSNodeTemplate with a field that it does not have: %v\n%s", err, out)
	}
	book.Shows(t, "2.22", "`instanceType` in an AWSNodeTemplate: kubectl names the unknown field")
	r.Kubectl("delete", "provisioners,awsnodetemplates", "--all")
}

// spread is the reconstructed deployment in a region of several zones.
func spread(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("spread")
	r.Prompt("default", "app=host-spread")
	pods := r.Running(2*time.Minute, "default", "app=host-spread", 20)
	book.Shows(t, "2.5", "from pending to the first machine within seconds; the rest is the machines' boot, which is simulated")
	nodes, err := r.Nodes("")
	if err != nil {
		t.Fatal(err)
	}
	zone, hosts, zones := map[string]string{}, map[string]int{}, map[string]int{}
	for _, n := range nodes {
		zone[n.Name] = n.Labels[corev1.LabelTopologyZone]
		zones[zone[n.Name]] += 0
	}
	for _, p := range pods {
		hosts[p.Spec.NodeName]++
		zones[zone[p.Spec.NodeName]]++
	}
	for host, n := range hosts {
		if n > 2 || strings.HasPrefix(host, "fargate-") {
			t.Errorf("%d pods run on %s", n, host)
		}
	}
	book.Shows(t, "2.1", "no more than two pods on a node, for the Fargate nodes have none")
	least, most := 20, 0
	for _, n := range zones {
		least, most = min(least, n), max(most, n)
	}
	if most-least > 5 {
		t.Errorf("pods by zone: %v", zones)
	}
	book.Shows(t, "2.8", "all 20 run, no constraint broken: more than the document's 14 (decision 5)")
	book.Shows(t, "2.9", "both constraints hold with all pods running")
	book.Shows(t, "2.16", "types of the three categories, in the zones that the pods need; no node was made by hand")
	book.Shows(t, "2.21", "two Fargate nodes: domains of both constraints, no pod of others on them, still there at the end")
	made := map[string]bool{}
	for _, c := range r.Calls("ec2", "CreateFleet") { // the template of a trial of the class buys nothing
		for name, value := range c.Params {
			if !c.DryRun && strings.HasSuffix(name, "LaunchTemplateName") {
				made[value] = true
			}
		}
	}
	if len(made) != 1 {
		t.Errorf("launch templates for machines that are alike: %v", made)
	}
	book.Shows(t, "2.24", "one launch template for all machines")
	r.InOrder("Found 20 provisionable", "Launching node", "Launched instance", "registered nodeclaim")
	book.Shows(t, "2.18", "in this order in the log; then kube-scheduler binds")
	book.Shows(t, "2.17", "security groups, profile and user data of the template are those of the machines")
	clean(t, r)
}

// oneZone limits the Provisioner to one zone while others are known.
func oneZone(t *testing.T, r *walk.Reader) {
	fargate, err := r.Nodes("eks.amazonaws.com/compute-type=fargate")
	if err != nil || len(fargate) != 2 {
		t.Fatalf("%d Fargate nodes: %v", len(fargate), err)
	}
	only := fargate[0].Labels[corev1.LabelTopologyZone]
	if other := fargate[1].Labels[corev1.LabelTopologyZone]; other == only {
		t.Fatalf("both Fargate nodes are in %s", only)
	}
	r.Over()
	r.Follow("one zone")
	r.Says(soon, "ERROR", `Could not schedule pod, incompatible with provisioner "default", unsatisfiable topology constraint, topology spread, topology\.kubernetes\.io/zone `+only+` has 5, the least is 0, maxSkew 5.*`, `"pod": "default/host-spread-`)
	r.Running(2*time.Minute, "default", "app=host-spread", 5)
	if n := r.Count("Could not schedule pod"); n < 15 {
		t.Errorf("%d lines of pods without a place, want 15", n)
	}
	book.Shows(t, "2.3", "one zone allowed, another known: 5 of 20 run, a line with the counts for each of the others")
	clean(t, r)
}

// fewNodes bounds the number of nodes.
func fewNodes(t *testing.T, r *walk.Reader) {
	r.Kubectl("patch", "provisioner", "default", "--type=merge", "-p", `{"spec":{"limits":{"resources":{"nodes":"1"}}}}`)
	r.Over()
	r.Apply("002-host-spread.RECONSTRUCTED.yaml")
	r.Says(soon, "ERROR", `Could not schedule pod, .*nodes: limit 1\b.*`, `"pod": "default/host-spread-`)
	r.Running(2*time.Minute, "default", "app=host-spread", 2)
	book.Shows(t, "2.23", "`limits.resources.nodes: 1`: one node with two pods, the others are told the limit")
	clean(t, r)
}

// clean takes the pods away, and the nodes with them.
func clean(t *testing.T, r *walk.Reader) {
	t.Helper()
	r.Kubectl("delete", "deployment", "host-spread", "--cascade=foreground")
	r.Kubectl("delete", "nodes", "-l", ours)
	r.NoNodes(3*time.Minute, ours)
}
