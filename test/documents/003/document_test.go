// Package document003 follows document 003: a Spark job whose driver runs on demand and whose executors run on spot.
package document003_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/playground"
	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("003")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours      = "karpenter.sh/provisioner-name=default"
	namespace = "emr-karpenter"
	template  = "emr-eks-workshop-karpenter-launchtemplate"
	soon      = 20 * time.Second
)

// The document from the user's launch template to the end of the job.
func TestDocument(t *testing.T) {
	r := walk.Open(t, playground.Options{
		Region: "us-east-1", ClusterName: "emr-eks-workshop", KubernetesVersion: "1.22",
		Surroundings: playground.Surroundings{Managed: map[string]int{"m5.large": 4}, Daemons: true},
	})
	launchTemplate(t, r)
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
	r.Apply("003-provisioner-from-describe.yaml")
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
	book.Shows(t, "3.5", "generation 1, no label, annotation or finalizer of the controller; nobody but kubectl has written the object")
	if !strings.Contains(got, "\nEvents:  <none>") {
		t.Errorf("events: %s", got)
	}
}

// job is the benchmark: a job runner, a driver, and executors that come five a second.
func job(t *testing.T, r *walk.Reader) {
	r.Kubectl("create", "namespace", namespace)
	r.Over()
	create(t, r, "000000032bqpqgfmbe4-7zb87", corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "job-runner"}}}}, "1", "1Gi", nil)
	driver := read(t, r, "003-karpenter-driver-pod-template.yaml")
	executor := read(t, r, "003-karpenter-executor-pod-template.yaml")
	start := time.Now()
	create(t, r, "driver", driver, "1", "2Gi", map[string]string{"app": "kspark"})
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 1; i <= 50; i++ {
		create(t, r, fmt.Sprintf("karpenter-4vcpu-7gb-exec-%d", i), executor, "4", "7884Mi", map[string]string{"app": "kspark"})
		if i%5 == 0 {
			<-tick.C // the rate at which Spark asks for them
		}
	}
	pods := r.Running(2*time.Minute, namespace, "", 52)
	t.Logf("52 pods run %s after the first", time.Since(start).Round(time.Second))
	book.Shows(t, "3.1", "nodes come for the job, and go after it")
	book.Shows(t, "3.14", "volume and init container as they stand; neither keeps a pod from its place")
	book.Shows(t, "3.18", "the job runner runs, on a node of the managed group or one of its own")
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
	r.Kubectl("delete", "pods", "--all", "-n", namespace, "--wait=false", "--grace-period=0", "--force")
	r.NoNodes(2*time.Minute, ours)
	if out := r.Kubectl("get", "nodes", "--no-headers"); strings.Count(out, " Ready ") != 4 {
		t.Errorf("nodes that are left:\n%s", out)
	}
}

func read(t *testing.T, r *walk.Reader, file string) corev1.Pod {
	t.Helper()
	var p corev1.Pod
	if err := yaml.Unmarshal([]byte(r.Read(file)), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// create makes a pod of a template, as Spark does: with an image, requests and the job's node selector.
func create(t *testing.T, r *walk.Reader, name string, from corev1.Pod, cpu, memory string, selector map[string]string) {
	t.Helper()
	p := from.DeepCopy()
	p.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name}
	c := &p.Spec.Containers[0]
	c.Image = "emr-6.5.0"
	c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	if p.Spec.NodeSelector == nil {
		p.Spec.NodeSelector = map[string]string{}
	}
	for k, v := range selector {
		p.Spec.NodeSelector[k] = v
	}
	r.Within(soon, func() error { // the namespace's service account may not be there yet
		_, err := r.Kube.CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{})
		return err
	})
}
