package document001_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/test/documents/walk"
)

var book = walk.OpenBook("001")

func TestMain(m *testing.M) { walk.Main(m, book) }

const (
	ours = "karpenter.sh/provisioner-name"
	soon = time.Minute
	// A node for some pods, each of 1 cpu, with what the daemons ask for.
	launching = `Launching node with \d+ pods requesting \{"cpu":"\d+125m","pods":"\d+"\} from types (\w+\.\w+, ){4}\w+\.\w+ and \d+ other\(s\)`

	host = `ip-192-168-\d+-\d+\.cn-north-1\.compute\.internal`
)

// The document from the first Provisioner to the empty cluster, and its errors.
func TestDocument(t *testing.T) {
	r := walk.Open(t, "001")
	account(t, r)
	install(t, r)
	noProvisioner(t, r)
	inflate(t, r)
	empty(t, r)
	banana(t, r)
	gone(t, r)
	selected(t, r)
	soldOut(t, r)
	noImage(t, r)
	pasted(t, r)
	interrupted(t, r)
	noLinkedRole(t, r)
	r.Says(2*time.Minute, "DEBUG", `Deleted launch template Karpenter-testkarpenter-\d+ \(lt-[0-9a-f]+\)`)
	book.Shows(t, "1.45", "the four lines in this order; the launch template goes when it was unused for a minute")
	cleanUp(t, r)
}

// account is what the document's first commands make or ask for, by the same calls: eksctl's part and the stack are
// there from the beginning.
func account(t *testing.T, r *walk.Reader) {
	for want, call := range map[string]func() (string, error){
		"arn:aws-cn:": func() (string, error) { return r.AWS("sts", "GetCallerIdentity", "Version", "2011-06-15") },
		"arn:aws-cn:iam::123456789012:role/KarpenterNodeRole-testkarpenter": func() (string, error) {
			return r.AWS("iam", "GetRole", "Version", "2010-05-08", "RoleName", "KarpenterNodeRole-testkarpenter")
		},
		"arn:aws-cn:iam::123456789012:policy/KarpenterControllerPolicy-testkarpenter": func() (string, error) {
			return r.AWS("iam", "ListAttachedRolePolicies", "Version", "2010-05-08", "RoleName", "testkarpenter-karpenter")
		},
		"<ParameterKey>ClusterName</ParameterKey>": func() (string, error) {
			return r.AWS("cloudformation", "DescribeStacks", "Version", "2010-05-15", "StackName", "Karpenter-testkarpenter")
		},
	} {
		if out, err := call(); err != nil || !strings.Contains(out, want) {
			t.Errorf("the account does not answer with %s: %v\n%s", want, err, out)
		}
	}
	if out := r.Cluster(); !strings.Contains(out, `"endpoint":"`+r.Endpoint()+`"`) || !strings.Contains(out, `"arn:aws-cn:eks:cn-north-1:`) || !strings.Contains(out, `"karpenter.sh/discovery":"testkarpenter"`) {
		t.Errorf("EKS says of the cluster %s", out)
	}
	book.Shows(t, "1.11", "the call answers with the API server's address, which the chart is then given; what is no URL is refused")
	book.Shows(t, "X10", "ARNs of aws-cn from STS, IAM and EKS; host names and zones of China, of us-east-1 in document 003; the template writes no partition out")
}

// interrupted is a message in the queue that the chart was told of.
func interrupted(t *testing.T, r *walk.Reader) {
	r.Apply("001-default.yaml")
	r.ApplyText(strings.ReplaceAll(strings.Replace(r.Read("001-inflate.yaml"), "replicas: 0", "replicas: 1", 1), "inflate", "stays"))
	pods := r.Running(2*time.Minute, "default", "app=stays", 1)
	machines := r.Machines()
	if len(machines) != 1 || machines[0].DNS != pods[0].Spec.NodeName {
		t.Fatalf("machines %v for a pod on %s", machines, pods[0].Spec.NodeName)
	}
	r.Over()
	r.Cloud("interrupt", map[string]string{"instance": machines[0].ID})
	r.Event(soon, "default", "SpotInterrupted", `.*`)
	r.Within(2*time.Minute, func() error {
		now := r.Machines()
		if len(now) != 1 || now[0].ID == machines[0].ID {
			return fmt.Errorf("machines are %v", now)
		}
		return nil
	})
	r.Running(2*time.Minute, "default", "app=stays", 1)
	book.Shows(t, "1.14", "an interruption in the queue of that name: the event, the node is drained, its pod runs on another")
	r.Kubectl("delete", "deployment", "stays")
	r.NoNodes(3*time.Minute, ours)
}

// noLinkedRole is an account that has not bought spot yet, and may not make the role for it.
func noLinkedRole(t *testing.T, r *walk.Reader) {
	r.Cloud("spotrole", map[string]bool{"missing": true})
	r.Over()
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: roleless}, spec: {containers: [{name: roleless, image: pause, resources: {requests: {cpu: 1}}}]}}`)
	r.Line(soon, `Provisioning failed, launching node, creating cloud provider instance, with fleet error\(s\), AuthFailure\.ServiceLinkedRoleCreationNotPermitted: .*`)
	r.Line(soon, `Could not schedule pod, .*provisioner "default".*`)
	if m := r.Machines(); len(m) != 0 {
		t.Errorf("machines are %v", m)
	}
	r.Must(r.AWS("iam", "CreateServiceLinkedRole", "Version", "2010-05-08", "AWSServiceName", "spot.amazonaws.com"))
	book.Shows(t, "1.10", "without the role: EC2's refusal as it stands, no spot is tried for a while, the pod waits; the document's command makes the role")
	r.Kubectl("delete", "pod", "roleless", "--wait=false")
}

// cleanUp is the document's, while the controller runs: its rights go, then the stack, then the launch templates.
func cleanUp(t *testing.T, r *walk.Reader) {
	const policy = "arn:aws-cn:iam::123456789012:policy/KarpenterControllerPolicy-testkarpenter"
	r.Must(r.AWS("iam", "DetachRolePolicy", "Version", "2010-05-08", "RoleName", "testkarpenter-karpenter", "PolicyArn", policy))
	r.Must(r.AWS("iam", "DeletePolicy", "Version", "2010-05-08", "PolicyArn", policy))
	r.Must(r.AWS("iam", "DeleteRole", "Version", "2010-05-08", "RoleName", "testkarpenter-karpenter"))
	r.Must(r.AWS("cloudformation", "DeleteStack", "Version", "2010-05-15", "StackName", "Karpenter-testkarpenter"))
	if out, err := r.AWS("cloudformation", "DescribeStacks", "Version", "2010-05-15", "StackName", "Karpenter-testkarpenter"); err == nil {
		t.Errorf("the stack is still there: %s", out)
	}
	restarts := func() string {
		return r.Kubectl("get", "pods", "-n", "karpenter", "-l", "app.kubernetes.io/name=karpenter", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}")
	}
	before := restarts()
	r.Over()
	calls := len(r.Calls("ec2", "*"))
	r.ApplyText(`{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: late}, spec: {providerRef: {name: default}, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}`)
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: late, image: pause, resources: {requests: {cpu: 1}}}]}}`)
	refused := regexp.MustCompile(`(?m)\tERROR\t.*(UnauthorizedOperation|AccessDenied|InvalidClientTokenId)`)
	r.Within(soon, func() error {
		if !refused.MatchString(r.Log()) {
			return errors.New("it is not said that AWS refuses everything")
		}
		return nil
	})
	// Some quiet seconds would show a loop that is none: what is refused is not asked again and again.
	<-time.After(5 * time.Second)
	often := map[string]int{}
	for _, c := range r.Calls("ec2", "*")[calls:] {
		if often[c.Action]++; often[c.Action] == 20 {
			t.Errorf("%s is called again and again, though it is refused", c.Action)
		}
	}
	if n := len(refused.FindAllString(r.Log(), -1)); n > 40 {
		t.Errorf("it is said %d times", n)
	}
	if after := restarts(); after != before {
		t.Errorf("the controllers were restarted: %s, before %s", after, before)
	}
	book.Shows(t, "1.51", "policy, role and stack deleted under the running controller: errors with a back-off, no restart, nothing bought or ended")
	c := r.EC2()
	out, err := c.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.LaunchTemplates {
		if strings.HasPrefix(*l.LaunchTemplateName, "Karpenter-testkarpenter") {
			if _, err := c.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: l.LaunchTemplateName}); err != nil {
				t.Error(err)
			}
		}
	}
	if m := r.Machines(); len(m) != 0 {
		t.Errorf("machines are left: %v", m)
	}
	book.Shows(t, "1.21", "the document's calls in their order, by the SDK: all succeed, and no machine and no launch template of the cluster is left")
}

// selected are pods that ask for what the Provisioner does not have, or has no more of.
func selected(t *testing.T, r *walk.Reader) {
	r.Over()
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: arm}, spec: {nodeSelector: {kubernetes.io/arch: arm64}, containers: [{name: arm, image: pause}]}}`)
	r.Says(soon, "ERROR", `Could not schedule pod, .*incompatible with provisioner "default", incompatible requirements, key kubernetes\.io/arch, kubernetes\.io/arch In \[arm64\] not in kubernetes\.io/arch In \[amd64\]`, `"pod": "default/arm"`)
	book.Shows(t, "1.24", "a pod for arm64 under a Provisioner of amd64: the line names both")
	book.Shows(t, "1.37", "types by the cloud, by the Provisioner and by the pod: what is left is in the lines of launches and refusals")
	r.Kubectl("delete", "pod", "arm", "--wait=false")

	r.Kubectl("delete", "provisioner", "banana")
	r.Kubectl("patch", "provisioner", "default", "--type=merge", "-p", `{"spec":{"limits":{"resources":{"cpu":1}}}}`)
	r.Over()
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: limited}, spec: {containers: [{name: limited, image: pause, resources: {requests: {cpu: 1}}}]}}`)
	r.Says(soon, "ERROR", `Could not schedule pod, all available instance types exceed limits for provisioner "default", cpu: limit 1`, `"pod": "default/limited"`)
	book.Shows(t, "1.27", "with a limit of 1 cpu the pod stays pending, and the line names limit, usage and need")
	r.Kubectl("delete", "pod", "limited", "--wait=false")
	r.Apply("001-default.yaml")
}

// soldOut is a type that EC2 has no more of in the zone that is asked for.
func soldOut(t *testing.T, r *walk.Reader) {
	r.Cloud("capacity", map[string]any{"type": "m5.4xlarge", "zone": "cn-north-1a", "left": 0})
	r.Over()
	r.ApplyText(`
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: sold-out}
spec:
  requirements:
  - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.4xlarge]}
  - {key: topology.kubernetes.io/zone, operator: In, values: [cn-north-1a]}
  taints: [{key: sold-out, effect: NoSchedule}]
  providerRef: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: sold-out}
spec:
  tolerations: [{key: sold-out, operator: Exists}]
  nodeSelector: {karpenter.sh/provisioner-name: sold-out}
  containers: [{name: sold-out, image: pause, resources: {requests: {cpu: 1}}}]
`)
	r.Says(soon, "ERROR", `Provisioning failed, launching node, creating cloud provider instance, with fleet error\(s\), InsufficientInstanceCapacity: We currently do not have sufficient m5\.4xlarge capacity in the Availability Zone you requested \(cn-north-1a\)\. Our system will be working on provisioning additional capacity\. You can currently get m5\.4xlarge capacity by not specifying an Availability Zone in your request or choosing .*cn-north-1b.*`)
	book.Shows(t, "1.48", "the chain, with EC2's whole sentence unchanged, for m5.4xlarge: the catalogue of cn-north-1 has no p3")
	r.Kubectl("delete", "pod", "sold-out", "--wait=false")
	r.Kubectl("delete", "provisioner", "sold-out")
}

// noImage is the document's template with an image that the account does not have.
func noImage(t *testing.T, r *walk.Reader) {
	r.Apply("001-node-template-ami.yaml")
	r.Within(soon, func() error {
		if out := r.Kubectl("get", "awsnodetemplate", "default", "-o", "jsonpath={.status}"); !strings.Contains(out, "mage") && !strings.Contains(out, "AMI") {
			return fmt.Errorf("the template's status is %s", out)
		}
		return nil
	})
	before := len(r.Calls("ec2", "CreateFleet"))
	r.Over()
	r.ApplyText(`{apiVersion: v1, kind: Pod, metadata: {name: nowhere}, spec: {containers: [{name: nowhere, image: pause, resources: {requests: {cpu: 1}}}]}}`)
	r.Says(soon, "ERROR", `Could not schedule pod, provisioner "default" is not ready, no amis exist given constraints of class default.*`)
	if n := r.Count(`created nodeclaim|failed launching nodeclaim`); n != 0 {
		t.Errorf("%d times something was asked for that has no image", n)
	}
	if after := len(r.Calls("ec2", "CreateFleet")); after != before {
		t.Errorf("%d machines were bought without an image", after-before)
	}
	r.Kubectl("delete", "pod", "nowhere", "--wait=false")
}

// pasted is the document's list of fields, taken for a manifest.
func pasted(t *testing.T, r *walk.Reader) {
	out, err := r.Run(r.Read("001-node-template-fields.NOT-APPLICABLE.yaml"), "kubectl", "apply", "-f", "-")
	if err == nil {
		t.Errorf("the list of fields was accepted:\n%s", out)
	}
	for _, field := range []string{"subnetSelector", "securityGroupSelector", "blockDeviceMappings"} {
		if !strings.Contains(out, field) {
			t.Errorf("the refusal does not name %s:\n%s", field, out)
		}
	}
	book.Shows(t, "1.54", "refused; the answer names the placeholders' fields")
	book.Shows(t, "1.34", "every field is in the kind; the placeholders are refused by name")
}

// install is the document's helm command.
func install(t *testing.T, r *walk.Reader) {
	r.Follow("install")
	book.Shows(t, "1.12", "the command with the playground's registry: every value is taken, and `--wait` ends")
	pods, err := r.Pods("karpenter", "app.kubernetes.io/name=karpenter")
	if err != nil || len(pods) != 2 {
		t.Fatalf("%d pods of the chart: %v", len(pods), err)
	}
	for _, p := range pods {
		if len(p.Spec.Containers) != 1 || p.Spec.Containers[0].Name != "controller" {
			t.Errorf("containers of %s: %v", p.Name, p.Spec.Containers)
		}
	}
	book.Shows(t, "1.20", "the command as it stands: two pods with the label, their container is called controller; all lines of these tables were read that way")
	book.Shows(t, "X8", "namespace, label and container of the installed chart")
	said := r.Kubectl("describe", "pods", "-n", "karpenter", "-l", "app.kubernetes.io/name=karpenter")
	for _, want := range []*regexp.Regexp{regexp.MustCompile(`CLUSTER_NAME:\s+testkarpenter`), regexp.MustCompile(`CLUSTER_ENDPOINT:\s+` + regexp.QuoteMeta(r.Endpoint()))} {
		if !want.MatchString(said) {
			t.Errorf("kubectl describe has no %s", want)
		}
	}
	book.Shows(t, "1.22", "`kubectl describe pod` shows both variables; the ConfigMap holds them, too")
	if keys := r.Kubectl("get", "configmap", "karpenter-global-settings", "-n", "karpenter", "-o", "jsonpath={.data}"); !strings.Contains(keys, `"aws.clusterName":"testkarpenter"`) {
		t.Errorf("the settings are %s", keys)
	}
	// With what that release's chart asked for, one m5.large does not hold both.
	r.Follow("too large")
	r.Within(2*time.Minute, func() error {
		pods, err := r.Pods("karpenter", "app.kubernetes.io/name=karpenter")
		if err != nil {
			return err
		}
		large, pending := 0, 0
		for _, p := range pods {
			if p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() == 1000 {
				large++
			}
			if p.Spec.NodeName == "" {
				pending++
			}
		}
		if len(pods) != 2 || large != 2 || pending != 1 {
			return fmt.Errorf("%d pods, %d of 1 cpu, %d pending", len(pods), large, pending)
		}
		return nil
	})
	book.Shows(t, "1.53", "both replicas fit the m5.large as the chart is, so that `--wait` ends with Helm 4 as well, which waits for all; with that release's requests one of two is pending, and unless two are asked for helm asks for one")
}

// noProvisioner scales before there is a Provisioner.
func noProvisioner(t *testing.T, r *walk.Reader) {
	r.Follow("no provisioner")
	r.Event(soon, "default", "FailedScheduling", `0/\d nodes are available: .*Insufficient cpu.*`)
	book.Shows(t, "1.2", "the scheduler's event on a pending pod, by its beginning")
	r.Says(soon, "ERROR", `Provisioning failed, creating scheduler, no provisioners found`)
	book.Shows(t, "1.46", "the line, once; the pods stay pending")
}

// inflate is the sample Provisioner and the load, 0 to 5 pods.
func inflate(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("inflate")
	found := r.Says(soon, "INFO", `Found 5 provisionable pod\(s\)`)
	book.Shows(t, "1.38", "the line, with the number of this run's pods")
	r.Says(soon, "INFO", launching, `"provisioner": "default"`)
	book.Shows(t, "1.39", "the line's form: requests with those of the daemons, five types by price, the rest counted; types of decision 2")
	book.Shows(t, "1.52", "the daemons' 125m and their two pods are in the requests of each line, beside the pods of 1 cpu")
	template := r.Says(soon, "DEBUG", `Created launch template, Karpenter-testkarpenter-\d+`, `"provisioner": "default"`)
	book.Shows(t, "1.40", "the line; the name is Karpenter-, the cluster, a number")
	book.Shows(t, "X5", "the name in the log, the tag in the recorded call")
	launched := r.Says(soon, "INFO", `Launched instance: i-[0-9a-f]+, hostname: `+host+`, type: \w+\.\w+, zone: cn-north-1[a-d], capacityType: spot`, `"provisioner": "default"`)
	if n := planned(t, r); n != 5 {
		t.Errorf("the lines launch nodes for %d pods, want 5", n)
	}
	if took := launched.When().Sub(found.When()); took > 30*time.Second {
		t.Errorf("from the decision to the machine it took %s", took)
	}
	book.Shows(t, "1.41", "the line, with id, host name, type, zone and capacity type as EC2 tells them")
	r.InOrder(`Found`, `Launching node`, `Created launch template`, `Launched instance`)
	book.Shows(t, "1.29", "pods that kube-scheduler gave up lead to CreateFleet within seconds")
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(launched.Time) {
		t.Errorf("the time of a line is %q", launched.Time)
	}
	book.Shows(t, "X7", "every line read: time, level, logger, message, fields with commit first, between tabs")
	r.Event(soon, "default", "Nominated", `Pod should schedule on `+host)
	book.Shows(t, "1.3", "the pods' event names the node as soon as the machine is known")
	r.Running(2*time.Minute, "default", "app=inflate", 5)
	book.Shows(t, "1.19", "inflate from 0 to 5: all run")
	book.Shows(t, "1.16", "applied as it stands; the machines are spot; the defaults show in the launch")
	book.Shows(t, "1.17", "the class is found by its name")
	book.Shows(t, "1.18", "two selectors, accepted and resolved")
	own(t, r)
	nodes(t, r)
	book.Shows(t, "1.23", "nodes carry the Provisioner's name; no node group was asked for")

	out := r.Kubectl("get", "provisioner", "default", "-o", "jsonpath={.spec}")
	if strings.Contains(out, "kubernetes.io/arch") || strings.Contains(out, "instance-category") {
		t.Errorf("defaults were written to the Provisioner: %s", out)
	}
	if text := r.UserData(strings.TrimPrefix(template.Message, "Created launch template, ")); !strings.Contains(text, "/etc/eks/bootstrap.sh 'testkarpenter'") {
		t.Errorf("user data: %s", text)
	}
	for _, c := range r.Calls("ec2", "CreateLaunchTemplate") {
		if c.Params["LaunchTemplateData.IamInstanceProfile.Name"] != "KarpenterNodeInstanceProfile-testkarpenter" {
			t.Errorf("the profile of a launch template is in %v", c.Params)
		}
	}
	book.Shows(t, "1.13", "the recorded CreateLaunchTemplate names the profile")
	for _, c := range r.Calls("ec2", "DescribeSubnets") {
		if c.Params["Filter.1.Name"] == "tag:karpenter.sh/discovery" && c.Params["Filter.1.Value.1"] == "testkarpenter" {
			book.Shows(t, "1.25", "the recorded DescribeSubnets asks for the tag")
		}
	}
}

// own is what is said of the chart's own pod that has no place.
func own(t *testing.T, r *walk.Reader) {
	t.Helper()
	const pod = `"pod": "karpenter/karpenter-`
	relaxed := r.Says(soon, "DEBUG", `Relaxing soft constraints for pod since it previously failed to schedule, removing: spec\.topologySpreadConstraints = .*`, pod)
	const constraint = `{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app.kubernetes.io/instance":"karpenter","app.kubernetes.io/name":"karpenter"}}}`
	if !strings.HasSuffix(relaxed.Message, " = "+constraint) {
		t.Errorf("the constraint in %q is not %s", relaxed.Message, constraint)
	}
	book.Shows(t, "1.50", "the line, with the constraint as the document shows it")
	// The playground leads the chart's pods to its node by a label, which is no node's that Tenon makes.
	const clause = `incompatible with provisioner "default", incompatible requirements, (key sim\.tenon\.sh/host, .* not in .*, )?key karpenter\.sh/provisioner-name, karpenter\.sh/provisioner-name DoesNotExist not in karpenter\.sh/provisioner-name In \[default\]`
	r.Says(soon, "ERROR", `Could not schedule pod, `+clause, pod)
	if n := r.Count(`Could not schedule pod, ` + clause); n != 1 {
		t.Errorf("the line came %d times", n)
	}
	book.Shows(t, "1.49", "the line, once")
	book.Shows(t, "1.6", "the chart's pods are refused Tenon's nodes and stay on the managed one")
}

// nodes checks the labels of every node that Tenon made.
func nodes(t *testing.T, r *walk.Reader) {
	t.Helper()
	all, err := r.Nodes(ours + "=default")
	if err != nil || len(all) == 0 {
		t.Fatalf("nodes of the Provisioner: %d, %v", len(all), err)
	}
	for _, n := range all {
		for _, key := range []string{
			"karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-size",
			"karpenter.k8s.aws/instance-cpu", "karpenter.k8s.aws/instance-memory", corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, corev1.LabelArchStable,
		} {
			if n.Labels[key] == "" {
				t.Errorf("node %s has no label %s: %v", n.Name, key, n.Labels)
			}
		}
		if !regexp.MustCompile("^" + host + "$").MatchString(n.Name) {
			t.Errorf("the node is called %s", n.Name)
		}
	}
	book.Shows(t, "X6", "labels of the nodes, the Provisioner's, the capacity type's and AWS's")
}

// empty takes the load away.
func empty(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("empty")
	r.Says(soon, "INFO", `Added TTL to empty node`, `"node": "ip-192-168-`)
	book.Shows(t, "1.43", "the line, and the annotation with the time on the node")
	r.Says(2*time.Minute, "INFO", `Triggering termination after 10s for empty node`, `"node": "ip-192-168-`)
	r.NoNodes(3*time.Minute, ours)
	r.Says(soon, "INFO", `Cordoned node`, `"node": "ip-192-168-`)
	r.Says(soon, "INFO", `Deleted node`, `"node": "ip-192-168-`)
	r.InOrder(`Added TTL to empty node`, `Triggering termination`, `Cordoned node`, `Deleted node`)
	book.Shows(t, "1.44", "after the lines the node is gone, and its machine")
	book.Shows(t, "1.1", "0 to 5 to 0: nodes come for pods and go when empty")
	book.Shows(t, "1.4", "seen in this order in the log: found, launching, launched, terminated")
}

// banana is the second Provisioner, alone and beside the first.
func banana(t *testing.T, r *walk.Reader) {
	r.Over()
	r.Follow("not tolerated")
	const clause = `incompatible with provisioner "banana", did not tolerate example\.com/special-taint=:NoSchedule`
	l := r.Says(soon, "ERROR", `Could not schedule pod, `+clause, `"pod": "default/intolerant-`)
	if !strings.HasPrefix(l.Logger, "controller.provision") {
		t.Errorf("the logger is %q", l.Logger)
	}
	r.Event(soon, "default", "FailedScheduling", `Failed to schedule pod, `+clause)
	book.Shows(t, "1.47", "the line and the event of a pod without the toleration")

	r.Over()
	r.Follow("banana")
	r.Says(soon, "INFO", launching, `"provisioner": "banana"`)
	if n := planned(t, r); n != 3 {
		t.Errorf("the lines launch nodes for %d pods, want 3", n)
	}
	book.Shows(t, "1.33", "the line, for 3 pods in all, each with the daemons' requests; several machines where these are cheaper; t types only if the user asks for them (decision 2)")
	book.Shows(t, "1.31", "both Provisioners suit the pods; the nodes are banana's")
	book.Shows(t, "1.30", "both are asked: banana has the weight")
	all, err := r.Nodes(ours + "=banana")
	if err != nil || len(all) == 0 {
		t.Fatalf("nodes of banana: %d, %v", len(all), err)
	}
	for _, n := range all {
		if n.Labels["billing-team"] != "my-team" || !hasTaint(n, corev1.Taint{Key: "example.com/special-taint", Effect: corev1.TaintEffectNoSchedule}) {
			t.Errorf("node %s: labels %v, taints %v", n.Name, n.Labels, n.Spec.Taints)
		}
	}
	book.Shows(t, "1.32", "the nodes carry the taint without a value and the label")
	book.Shows(t, "X4", "a taint and a toleration without value meet")
	book.Shows(t, "1.35", "one AWSNodeTemplate serves both Provisioners")
	userData(t, r)
}

// planned is how many pods the lines of launches speak of.
func planned(t *testing.T, r *walk.Reader) int {
	t.Helper()
	sum := 0
	for _, m := range regexp.MustCompile(`Launching node with (\d+) pods requesting \{"cpu":"(\d+)125m","pods":"(\d+)"\}`).FindAllStringSubmatch(r.Log(), -1) {
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1]) // the pattern lets only numbers through
		}
		if n[1] != n[0] || n[2] != n[0]+2 {
			t.Errorf("%d pods of 1 cpu and two daemons ask for %s", n[0], m[0])
		}
		sum += n[0]
	}
	return sum
}

func hasTaint(n corev1.Node, want corev1.Taint) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == want.Key && t.Value == want.Value && t.Effect == want.Effect {
			return true
		}
	}
	return false
}

// userData compares banana's with the document's, whose endpoint and certificate are another cluster's.
func userData(t *testing.T, r *walk.Reader) {
	t.Helper()
	l := r.Line(soon, `Created launch template, Karpenter-testkarpenter-\d+`)
	got := r.UserData(strings.TrimPrefix(l.Message, "Created launch template, "))
	want, _, _ := strings.Cut(r.Read("001-userdata.expected.sh"), "# Source")
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		line = regexp.MustCompile(`'(https://xxx|xxx).*?'`).ReplaceAllString(line, "\x00")
		for part := range strings.SplitSeq(line, "\x00") {
			if part = strings.TrimSpace(strings.TrimSuffix(part, `\`)); !strings.Contains(got, part) {
				t.Errorf("the user data has no %q:\n%s", part, got)
			}
		}
	}
	book.Shows(t, "1.42", "the launch template's user data, piece by piece against the document's")
	book.Shows(t, "X11", "labels and taints are in the user data and on the node")
}

// gone cleans up as the reader does.
func gone(t *testing.T, r *walk.Reader) {
	r.Follow("gone")
	r.NoNodes(3*time.Minute, ours)
}
