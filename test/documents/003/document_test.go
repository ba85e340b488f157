package document003_test

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("003")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours      = "karpenter.sh/provisioner-name=default"
	namespace = "emr-karpenter"
	template  = "emr-eks-workshop-karpenter-launchtemplate"
	soon      = time.Minute
)

// The document from the user's launch template to the end of the job.
func TestDocument(t *testing.T) {
	r := walk.Open(t, "003")
	r.Follow("nodes")
	nodes, err := r.Nodes("eks.amazonaws.com/nodegroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if v := n.Status.NodeInfo.KubeletVersion; !strings.HasPrefix(v, "v1.22.") || !strings.HasSuffix(n.Name, ".ec2.internal") {
			t.Errorf("node %s has a kubelet of %s", n.Name, v)
		}
	}
	book.Shows(t, "3.2", "four nodes of us-east-1, Ready; their kubelets say v1.22, the API server is today's")
	launchTemplate(t, r)
	r.Follow("set up")
	describe(t, r)
	job(t, r)
	end(t, r)
}

// launchTemplate is the reader's own, made by the setup script of the workshop.
func launchTemplate(t *testing.T, r *walk.Reader) {
	c := r.EC2()
	images, err := c.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{
		{Name: aws.String("name"), Values: []string{"amazon-eks-node-1.22-*"}}, {Name: aws.String("architecture"), Values: []string{"x86_64"}},
	}})
	if err != nil || len(images.Images) == 0 {
		t.Fatalf("images of 1.22: %v", err)
	}
	groups, err := c.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{
		{Name: aws.String("tag:karpenter.sh/discovery"), Values: []string{"emr-eks-workshop"}},
	}})
	if err != nil || len(groups.SecurityGroups) == 0 {
		t.Fatalf("security groups: %v", err)
	}
	userData := "#!/bin/bash -xe\n/etc/eks/bootstrap.sh 'emr-eks-workshop' --apiserver-endpoint '" + r.Endpoint() + "' --container-runtime containerd\n"
	if _, err := c.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(template),
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId:            images.Images[0].ImageId,
			IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("KarpenterNodeInstanceProfile-emr-eks-workshop")},
			SecurityGroupIds:   []string{*groups.SecurityGroups[0].GroupId},
			UserData:           aws.String(base64.StdEncoding.EncodeToString([]byte(userData))),
		},
	}); err != nil {
		t.Fatal(err)
	}
}

// describe compares what kubectl says of the Provisioner with the document.
func describe(t *testing.T, r *walk.Reader) {
	if out := strings.Fields(r.Kubectl("get", "provisioners")); len(out) != 4 || out[0] != "NAME" || out[1] != "AGE" || out[2] != "default" {
		t.Errorf("kubectl get provisioners: %v", out)
	}
	book.Shows(t, "3.4", "the two columns")
	spec := func(s string) string {
		_, s, _ = strings.Cut(s, "\nSpec:\n")
		return s
	}
	got := r.Kubectl("describe", "provisioners", "default")
	want := r.Read("003-describe.expected.txt")
	if !strings.Contains(spec(got), "Ttl Seconds After Empty:  30") || !strings.HasPrefix(spec(got), spec(want)[:strings.Index(spec(want), "Status:")]) {
		t.Errorf("kubectl describe shows\n%s\nthe document\n%s", spec(got), spec(want))
	}
	for id, how := range map[string]string{
		"3.6": "described as in the document", "3.7": "described as in the document, where the manifest says 2k", "3.9": "described as in the document, nothing appended",
		"3.10": "described as in the document",
	} {
		book.Shows(t, id, how)
	}
	for _, line := range []string{`(?m)^Labels: +<none>$`, `(?m)^Annotations: +<none>$`, `(?m)^API Version: +karpenter.sh/v1alpha5$`, `(?m)^  Generation: +1$`} {
		if !regexp.MustCompile(line).MatchString(got) {
			t.Errorf("kubectl describe has no line %s:\n%s", line, got)
		}
	}
	for writer := range strings.FieldsSeq(r.Kubectl("get", "provisioner", "default", "--show-managed-fields", "-o", `jsonpath={range .metadata.managedFields[*]}{.manager}/{.subresource} {end}`)) {
		if writer != "kubectl-client-side-apply/" && !strings.HasSuffix(writer, "/status") {
			t.Errorf("%s has written the object", writer)
		}
	}
	book.Shows(t, "3.5", "generation 1, no label, annotation or finalizer of the controller; only kubectl has written the object")
	if !regexp.MustCompile(`(?m)^Status:\nEvents:  <none>`).MatchString(got) {
		t.Errorf("the end of what is described is\n%s", spec(got))
	}
	book.Shows(t, "3.11", "the same two lines: nothing is written while there are no nodes")
	if !strings.Contains(got, "\nEvents:  <none>") {
		t.Errorf("events: %s", got)
	}
}

// job is the benchmark: a job runner, a driver, and executors that come five a second.
func job(t *testing.T, r *walk.Reader) {
	r.Over()
	start := time.Now()
	r.Follow("job")
	r.Prompt(namespace, "")
	pods := r.Running(2*time.Minute, namespace, "", 52)
	t.Logf("52 pods run %s after the first", time.Since(start).Round(time.Second))
	book.Shows(t, "3.1", "nodes come for the job, and go after it")
	book.Shows(t, "3.14", "volume and init container as they stand; neither keeps a pod from its place")
	book.Shows(t, "3.18", "the job runner runs, on a node of the managed group or one of its own")
	if out := r.Kubectl("get", "pod", "-n", namespace); strings.Count(out, " 2/2 ") != 51 || strings.Count(out, " 3/3 ") != 1 {
		t.Errorf("kubectl get pod shows\n%s", out)
	}
	book.Shows(t, "3.16", "the command shows the job runner 3/3, driver and executors 2/2")
	kinds := map[string]string{}
	nodes, err := r.Nodes(ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		kinds[n.Name] = n.Labels["karpenter.sh/capacity-type"]
		if n.Labels["app"] != "kspark" || n.Labels[corev1.LabelTopologyZone] != "us-east-1a" || !strings.HasSuffix(n.Name, ".ec2.internal") {
			t.Errorf("node %s: %v", n.Name, n.Labels)
		}
	}
	for _, p := range pods {
		switch kind := kinds[p.Spec.NodeName]; {
		case p.Name == "driver" && kind != "on-demand", strings.Contains(p.Name, "exec") && kind != "spot":
			t.Errorf("%s runs on %s (%s)", p.Name, p.Spec.NodeName, kind)
		}
	}
	book.Shows(t, "3.12", "the label of each node, from the machine's purchase")
	book.Shows(t, "3.13", "the driver on demand, all executors on spot, all with app=kspark")
	book.Shows(t, "3.15", "50 executors at five a second, all running, several on a node")
	book.Shows(t, "3.19", "the template carries no labels; the nodes have them before a pod that selects them is bound")
	fleets(t, r)
}

// fleets checks the recorded calls.
func fleets(t *testing.T, r *walk.Reader) {
	t.Helper()
	calls := r.Calls("ec2", "CreateFleet")
	for _, c := range calls {
		if name := c.Params["LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName"]; name != template {
			t.Errorf("a fleet request is for the launch template %q", name)
		}
	}
	made := r.Calls("ec2", "CreateLaunchTemplate")
	if n := len(made); n != 1 {
		t.Errorf("%d launch templates were made, want the reader's alone", n)
	}
	if slices.ContainsFunc(r.Calls("ec2", "DeleteLaunchTemplate"), func(c walk.Call) bool { return c.Code == "" }) {
		t.Error("a launch template was deleted")
	}
	book.Shows(t, "3.8", "the recorded CreateFleet names the reader's template; Tenon makes none and deletes none")
}

// end lets the job be over.
func end(t *testing.T, r *walk.Reader) {
	r.Follow("end")
	if out := r.Kubectl("get", "nodes", "--no-headers", "-l", "eks.amazonaws.com/nodegroup"); strings.Count(out, " Ready ") != 4 {
		t.Errorf("nodes that are left:\n%s", out)
	}
}
