package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/aws/access"
)

const deployed = "../../deploy/aws"

type document struct {
	Version   string
	Statement []grant
}

type grant struct {
	Sid, Effect      string
	Action, Resource []string
	Condition        map[string]map[string]any
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployed, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, text string) document {
	t.Helper()
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d
}

// formedStack is the CloudFormation template; its functions read as their arguments.
type formedStack struct {
	Parameters map[string]map[string]any
	Resources  map[string]struct {
		Type       string
		Properties map[string]any
	}
}

func formed(t *testing.T) formedStack {
	t.Helper()
	var out formedStack
	if err := yaml.Unmarshal([]byte(read(t, "cloudformation.yaml")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The template has the names that guides and existing installations speak of.
func TestNames(t *testing.T) {
	got := map[string]string{}
	for id, r := range formed(t).Resources {
		got[id] = r.Type
		for _, name := range []string{"RoleName", "InstanceProfileName", "ManagedPolicyName", "QueueName"} {
			if n, ok := r.Properties[name].(string); ok {
				got[id] += " " + n
			}
		}
	}
	want := map[string]string{
		"KarpenterNodeRole":                   "AWS::IAM::Role KarpenterNodeRole-${ClusterName}",
		"KarpenterNodeInstanceProfile":        "AWS::IAM::InstanceProfile KarpenterNodeInstanceProfile-${ClusterName}",
		"KarpenterControllerPolicy":           "AWS::IAM::ManagedPolicy KarpenterControllerPolicy-${ClusterName}",
		"KarpenterInterruptionQueue":          "AWS::SQS::Queue ClusterName",
		"KarpenterInterruptionQueuePolicy":    "AWS::SQS::QueuePolicy",
		"ScheduledChangeRule":                 "AWS::Events::Rule",
		"SpotInterruptionRule":                "AWS::Events::Rule",
		"RebalanceRule":                       "AWS::Events::Rule",
		"InstanceStateChangeRule":             "AWS::Events::Rule",
		"CapacityReservationInterruptionRule": "AWS::Events::Rule",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if formed(t).Parameters["ClusterName"]["Type"] != "String" {
		t.Error("there is no parameter ClusterName")
	}
}

// Every declared call is granted, and nothing else is.
func TestPolicyGrantsDeclaredCalls(t *testing.T) {
	inStack, ok := formed(t).Resources["KarpenterControllerPolicy"].Properties["PolicyDocument"].(string)
	if !ok {
		t.Fatal("the stack has no policy document")
	}
	var want []string
	for _, c := range access.Calls() {
		want = append(want, c.Permission())
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for name, text := range map[string]string{"the stack": inStack, "the file": read(t, "iam/controller-policy.json")} {
		var got []string
		for _, s := range parse(t, text).Statement {
			if s.Effect != "Allow" || s.Sid == "" || len(s.Resource) == 0 {
				t.Errorf("%s: statement %+v", name, s)
			}
			got = append(got, s.Action...)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("%s: -declared +granted\n%s", name, diff)
		}
	}
}

// What changes or ends a thing acts on the cluster's own things only.
func TestWritesAreNarrowed(t *testing.T) {
	free := map[string][]string{ // calls that write and have no condition, and why they may
		"LaunchFrom": {"ec2:CreateFleet", "ec2:RunInstances"}, // they make nothing by what they start from; what Make and LaunchFromTemplatesOf are about has conditions
		"Notices":    {"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
	}
	reads := regexp.MustCompile(`:(Describe|Get|List)`)
	for _, s := range parse(t, read(t, "iam/controller-policy.json")).Statement {
		writes := slices.ContainsFunc(s.Action, func(a string) bool { return !reads.MatchString(a) })
		if writes && len(s.Condition) == 0 && !slices.Equal(free[s.Sid], s.Action) {
			t.Errorf("%s grants %v on %v without a condition", s.Sid, s.Action, s.Resource)
		}
		if writes && slices.Contains(s.Resource, "*") {
			t.Errorf("%s grants %v on everything", s.Sid, s.Action)
		}
		for _, r := range s.Resource {
			if r != "*" && !strings.HasPrefix(r, "arn:"+partition+":") {
				t.Errorf("%s: %s is of one partition only", s.Sid, r)
			}
		}
	}
}

// A managed policy may have 6,144 characters, blanks not counted, whatever the cluster is called.
func TestPolicyIsShortEnough(t *testing.T) {
	long := strings.NewReplacer(
		partition, "aws-us-gov", region, "ap-southeast-99", account, "123456789012", cluster, strings.Repeat("n", 46), // the role's name has 64 at most
		" ", "", "\n", "",
	).Replace(read(t, "iam/controller-policy.json"))
	if strings.Contains(long, "${") {
		t.Errorf("something is left open in %s", long)
	}
	if len(long) > 6144 {
		t.Errorf("the policy has %d characters", len(long))
	}
}

// A call without a scope is not passed over.
func TestEveryCallNeedsAStatement(t *testing.T) {
	_, err := policy([]access.Call{{Service: "ec2", Action: "DeleteVpc", Use: access.Delete}})
	if err == nil || !strings.Contains(err.Error(), "ec2:DeleteVpc") {
		t.Errorf("err = %v, want one that names the call", err)
	}
}

// The template works in every partition.
func TestNoPartitionIsWrittenOut(t *testing.T) {
	files, err := filepath.Glob(deployed + "/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, deployed+"/cloudformation.yaml") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`arn:aws[a-z-]*:|\b[0-9]{12}\b`).FindString(string(text)); m != "" {
			t.Errorf("%s says %s, which is not everyone's", f, m)
		}
	}
}

// The eksctl files say what the stack and the chart say.
func TestClusterFiles(t *testing.T) {
	for _, name := range []string{"cluster.yaml", "pod-identity.yaml"} {
		text := read(t, "eksctl/"+name)
		var c map[string]any
		if err := yaml.Unmarshal([]byte(text), &c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{
			"karpenter.sh/discovery: ${CLUSTER_NAME}", ":policy/KarpenterControllerPolicy-${CLUSTER_NAME}", ":role/KarpenterNodeRole-${CLUSTER_NAME}",
			"roleName: ${CLUSTER_NAME}-karpenter", "system:node:{{EC2PrivateDNSName}}", "system:bootstrappers", "system:nodes",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %s", name, want)
			}
		}
	}
}

// Terraform makes what CloudFormation makes.
func TestTerraformNames(t *testing.T) {
	text := read(t, "terraform/main.tf")
	for _, want := range []string{
		`"KarpenterNodeRole-${var.cluster_name}"`, `"KarpenterNodeInstanceProfile-${var.cluster_name}"`, `"KarpenterControllerPolicy-${var.cluster_name}"`,
		`= var.cluster_name`, `iam/controller-policy.json`, `"${var.cluster_name}-karpenter"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %s", want)
		}
	}
	for id, r := range formed(t).Resources {
		pattern, ok := r.Properties["EventPattern"].(map[string]any)
		if !ok {
			continue
		}
		detail, _ := pattern["detail-type"].([]any)
		if len(detail) != 1 || !strings.Contains(text, `"`+detail[0].(string)+`"`) {
			t.Errorf("%s listens for %v, Terraform does not", id, detail)
		}
	}
	for _, m := range regexp.MustCompile(`\$\{(AWS_[A-Z_]+|CLUSTER_NAME)\}`).FindAllStringSubmatch(read(t, "iam/controller-policy.json"), -1) {
		if !regexp.MustCompile(`(?m)^\s+` + m[1] + `\s+=`).MatchString(text) {
			t.Errorf("Terraform does not fill in %s", m[1])
		}
	}
}
