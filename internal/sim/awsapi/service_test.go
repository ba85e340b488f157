package awsapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestImagesAreFoundByParameter(t *testing.T) {
	w := serve(t, nil)
	api := ssm.NewFromConfig(w.config)
	for _, name := range []string{
		"/aws/service/eks/optimized-ami/1.34/amazon-linux-2/recommended/image_id",
		"/aws/service/eks/optimized-ami/1.34/amazon-linux-2-gpu/recommended/image_id",
		"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/standard/recommended/image_id",
		"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/neuron/recommended/image_id",
		"/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/latest/image_id",
		"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.34/image_id",
	} {
		p := of(api.GetParameter(t.Context(), &ssm.GetParameterInput{Name: &name})).must(t)
		if _, err := w.ec2().DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{*p.Parameter.Value}}); err != nil {
			t.Errorf("the image of %s: %v", name, err)
		}
	}
	_, err := api.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/9.99/amazon-linux-2/recommended/image_id")})
	if code(err) != "ParameterNotFound" {
		t.Errorf("a parameter that is not there gave %v", err)
	}
}

func TestInstanceProfileLife(t *testing.T) {
	w := serve(t, nil)
	api := iam.NewFromConfig(w.config)
	name, role := aws.String("demo_123"), aws.String("KarpenterNodeRole-demo")
	made := of(api.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{
		InstanceProfileName: name, Path: aws.String("/karpenter/us-west-2/demo/1/"),
		Tags: []iamtypes.Tag{{Key: aws.String("kubernetes.io/cluster/demo"), Value: aws.String("owned")}},
	})).must(t)
	if *made.InstanceProfile.Arn != "arn:aws:iam::123456789012:instance-profile/karpenter/us-west-2/demo/1/demo_123" {
		t.Errorf("the ARN is %s", *made.InstanceProfile.Arn)
	}
	_, err := api.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: name})
	if code(err) != "EntityAlreadyExists" {
		t.Errorf("making it twice gave %v", err)
	}
	of(api.AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: role})).must(t)
	of(api.TagInstanceProfile(t.Context(), &iam.TagInstanceProfileInput{InstanceProfileName: name, Tags: []iamtypes.Tag{{Key: aws.String("a"), Value: aws.String("b")}}})).must(t)
	got := of(api.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: name})).must(t)
	if len(got.InstanceProfile.Roles) != 1 || *got.InstanceProfile.Roles[0].RoleName != *role || len(got.InstanceProfile.Tags) != 2 {
		t.Errorf("the profile is %+v", got.InstanceProfile)
	}
	list := of(api.ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{PathPrefix: aws.String("/karpenter/us-west-2/demo/")})).must(t)
	if len(list.InstanceProfiles) != 1 {
		t.Errorf("%d profiles under the path, want 1", len(list.InstanceProfiles))
	}
	if _, err := api.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: name}); code(err) != "DeleteConflict" {
		t.Errorf("deleting a profile with a role gave %v", err)
	}
	of(api.RemoveRoleFromInstanceProfile(t.Context(), &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: role})).must(t)
	of(api.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: name})).must(t)
	if _, err := api.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: name}); code(err) != "NoSuchEntity" {
		t.Errorf("the deleted profile gave %v", err)
	}
}

func TestRolesAndPoliciesAreFound(t *testing.T) {
	w := serve(t, nil)
	api := iam.NewFromConfig(w.config)
	of(api.CreateServiceLinkedRole(t.Context(), &iam.CreateServiceLinkedRoleInput{AWSServiceName: aws.String("spot.amazonaws.com")})).must(t)
	names := func(in iam.ListRolesInput) (all []string, pages int) {
		for p := iam.NewListRolesPaginator(api, &in); p.HasMorePages(); pages++ {
			for _, r := range of(p.NextPage(t.Context())).must(t).Roles {
				got := of(api.GetRole(t.Context(), &iam.GetRoleInput{RoleName: r.RoleName})).must(t).Role
				if *got.Arn != *r.Arn || *got.RoleId != *r.RoleId {
					t.Errorf("role %s is listed as %s", *got.Arn, *r.Arn)
				}
				all = append(all, *r.RoleName)
			}
		}
		return all, pages
	}
	if all, pages := names(iam.ListRolesInput{MaxItems: aws.Int32(2)}); pages != 2 || !slices.Equal(all, []string{"AWSServiceRoleForEC2Spot", "KarpenterNodeRole-demo", "demo-karpenter"}) {
		t.Errorf("the roles are %v on %d pages", all, pages)
	}
	if all, _ := names(iam.ListRolesInput{PathPrefix: aws.String("/aws-service-role/")}); !slices.Equal(all, []string{"AWSServiceRoleForEC2Spot"}) {
		t.Errorf("the roles of services are %v", all)
	}
	if _, err := api.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("nope")}); code(err) != "NoSuchEntity" {
		t.Errorf("a role that is not there gave %v", err)
	}
	policy := func(arn string) (iamtypes.Policy, string) {
		out, err := api.GetPolicy(t.Context(), &iam.GetPolicyInput{PolicyArn: &arn})
		if err != nil {
			return iamtypes.Policy{}, code(err)
		}
		return *out.Policy, ""
	}
	if p, refused := policy(w.ControllerPolicy()); refused != "" || *p.Arn != w.ControllerPolicy() || *p.AttachmentCount != 1 || *p.DefaultVersionId != "v1" || p.CreateDate == nil {
		t.Errorf("the controller's policy is %+v, refused with %q", p, refused)
	}
	if p, refused := policy("arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"); refused != "" || *p.PolicyName != "AmazonEKSWorkerNodePolicy" || *p.Path != "/" {
		t.Errorf("a policy of AWS's is %+v, refused with %q", p, refused)
	}
	made := of(api.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("mine"), Path: aws.String("/team/"), PolicyDocument: aws.String("{}")})).must(t).Policy
	if p, refused := policy("arn:aws:iam::123456789012:policy/team/mine"); refused != "" || *p.PolicyId != *made.PolicyId || *p.Path != "/team/" || *p.AttachmentCount != 0 {
		t.Errorf("the policy that was made is %+v, refused with %q", p, refused)
	}
	if _, err := api.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("mine"), PolicyDocument: aws.String("{}")}); code(err) != "EntityAlreadyExists" {
		t.Errorf("making it twice gave %v", err)
	}
	of(api.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: made.Arn})).must(t)
	for arn, want := range map[string]string{*made.Arn: "NoSuchEntity", "policy-without-an-arn": "InvalidInput"} {
		if _, refused := policy(arn); refused != want {
			t.Errorf("policy %s is refused with %q, want %q", arn, refused, want)
		}
	}
}

// Tokens for IAM are not taken by the API server behind the account: the description says what leads there instead.
func TestClusterSaysWhichKubeconfigLeadsThere(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"":                 {"karpenter.sh/discovery": "demo"},
		"/play/kubeconfig": {"karpenter.sh/discovery": "demo", awsapi.TagKubeconfig: "/play/kubeconfig"},
	} {
		w := serve(t, func(c *awsapi.Config) { c.Kubeconfig = file })
		k := of(eks.NewFromConfig(w.config).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("demo")})).must(t).Cluster
		if !maps.Equal(k.Tags, want) {
			t.Errorf("with the file %q the tags are %v, want %v", file, k.Tags, want)
		}
	}
}

func TestClusterAndZonalShift(t *testing.T) {
	w := serve(t, nil)
	k := of(eks.NewFromConfig(w.config).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("demo")})).must(t).Cluster
	if *k.Version != "1.34" || *k.KubernetesNetworkConfig.ServiceIpv4Cidr != "10.100.0.0/16" || *k.CertificateAuthority.Data != "Y2VydGlmaWNhdGU=" ||
		!strings.HasPrefix(*k.Endpoint, "https://") {
		t.Errorf("the cluster is %+v", k)
	}
	if _, err := eks.NewFromConfig(w.config).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("other")}); code(err) != "ResourceNotFoundException" {
		t.Errorf("a cluster that is not there gave %v", err)
	}
	w.Market.ShiftZone("us-west-2a", time.Now().Add(time.Hour))
	r := of(arczonalshift.NewFromConfig(w.config).GetManagedResource(t.Context(), &arczonalshift.GetManagedResourceInput{ResourceIdentifier: k.Arn})).must(t)
	if len(r.ZonalShifts) != 1 || *r.ZonalShifts[0].AwayFrom != "usw2-az1" && *r.ZonalShifts[0].AwayFrom != "usw2-az2" {
		t.Errorf("the shifts are %+v", r.ZonalShifts)
	}
}

func TestPriceList(t *testing.T) {
	w := serve(t, nil)
	api := pricing.NewFromConfig(w.config)
	match := func(field, value string) pricingtypes.Filter {
		return pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &field, Value: &value}
	}
	prices := map[string]string{}
	for p := pricing.NewGetProductsPaginator(api, &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), Filters: []pricingtypes.Filter{
		match("regionCode", "us-west-2"), match("operatingSystem", "Linux"), match("preInstalledSw", "NA"), match("capacitystatus", "Used"),
		match("marketoption", "OnDemand"), match("tenancy", "Shared"), match("productFamily", "Compute Instance"),
	}}); p.HasMorePages(); {
		for _, text := range of(p.NextPage(t.Context())).must(t).PriceList {
			var one struct {
				Product struct{ Attributes struct{ InstanceType string } }
				Terms   struct {
					OnDemand map[string]struct {
						PriceDimensions map[string]struct{ PricePerUnit map[string]string }
					}
				}
			}
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatal(err)
			}
			for _, term := range one.Terms.OnDemand {
				for _, d := range term.PriceDimensions {
					prices[one.Product.Attributes.InstanceType] = d.PricePerUnit["USD"]
				}
			}
		}
	}
	if prices["m5.large"] != "0.0960000000" || len(prices) < 1000 {
		t.Errorf("m5.large costs %q among %d prices", prices["m5.large"], len(prices))
	}
	if _, metal := prices["m5.metal"]; metal {
		t.Error("bare metal is listed as a plain compute instance")
	}
}

func TestNoticesArriveInTheQueue(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	got := of(w.ec2().CreateFleet(t.Context(), fleet("demo-1", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0)))).must(t)
	id := got.Instances[0].InstanceIds[0]
	if err := w.Market.Interrupt(id); err != nil {
		t.Fatal(err)
	}
	api := sqs.NewFromConfig(w.config)
	queue := of(api.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("demo")})).must(t).QueueUrl
	var kinds []string
	eventually(t, "the machine's whole life in the queue", func() bool {
		out := of(api.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: queue, MaxNumberOfMessages: 10, VisibilityTimeout: 20, WaitTimeSeconds: 1,
			MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameSentTimestamp},
		})).must(t)
		for _, m := range out.Messages {
			var e struct {
				Source     string
				DetailType string            `json:"detail-type"`
				Detail     map[string]string `json:"detail"`
			}
			if err := json.Unmarshal([]byte(*m.Body), &e); err != nil {
				t.Fatal(err)
			}
			if e.Detail["instance-id"] != id || m.Attributes["SentTimestamp"] == "" {
				t.Errorf("a message is %s with %v", *m.Body, m.Attributes)
			}
			kinds = append(kinds, e.Source+"/"+e.DetailType+"/"+e.Detail["state"])
			of(api.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: m.ReceiptHandle})).must(t)
		}
		return slices.Contains(kinds, "aws.ec2/EC2 Instance State-change Notification/terminated")
	})
	if !slices.Contains(kinds, "aws.ec2/EC2 Spot Instance Interruption Warning/") {
		t.Errorf("there was no warning among %v", kinds)
	}
	if _, err := api.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("other")}); code(err) != "QueueDoesNotExist" &&
		code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("a queue that is not there gave %v", err)
	}
}

func TestARoleWithoutPoliciesMayDoNothing(t *testing.T) {
	w := serve(t, nil)
	session := of(sts.NewFromConfig(w.config).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String("arn:aws:iam::123456789012:role/demo-karpenter"), RoleSessionName: aws.String("s"), WebIdentityToken: aws.String("token"),
	})).must(t)
	config := signed(w.url, "us-west-2", *session.Credentials.AccessKeyId)
	who := of(sts.NewFromConfig(config).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})).must(t)
	if *who.Account != "123456789012" || !strings.Contains(*who.Arn, "assumed-role/demo-karpenter/") {
		t.Errorf("the caller is %s", *who.Arn)
	}
	api := ec2.NewFromConfig(config)
	of(api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})).must(t)
	of(iam.NewFromConfig(w.config).DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{
		RoleName: aws.String("demo-karpenter"), PolicyArn: aws.String(w.ControllerPolicy()),
	})).must(t)
	if _, err := api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); code(err) != "UnauthorizedOperation" {
		t.Errorf("a call without the policy gave %v, want UnauthorizedOperation", err)
	}
	if _, err := ssm.NewFromConfig(signed(w.url, "us-west-2", awsapi.ControllerKey)).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/x")}); code(err) != "AccessDeniedException" {
		t.Errorf("the controller's own key gave %v, want AccessDeniedException", err)
	}
}

func TestEveryKindOfNoticeHasItsShape(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	cases := map[string]struct {
		why    string
		cause  func(id string) error
		source string
		detail string // in the detail, as JSON; ID is the machine
	}{
		"EC2 Instance Rebalance Recommendation": {
			"It names the machine and nothing else.", func(id string) error { return w.Market.Rebalance(id) }, "aws.ec2", `{"instance-id":"ID"}`,
		},
		"EC2 Spot Instance Interruption Warning": {
			"It says what will be done.", func(id string) error { return w.Market.Interrupt(id) }, "aws.ec2", `"instance-action":"terminate"`,
		},
		"AWS Health Event": {
			"The machine stands among the affected entities.",
			func(id string) error {
				return w.Market.Schedule(id, market.ScheduledEvent{Code: "instance-retirement", NotBefore: time.Now(), NotAfter: time.Now()})
			},
			"aws.health", `"affectedEntities":[{"entityValue":"ID"`,
		},
		"EC2 Capacity Reservation Instance Interruption Warning": {
			"It says when.", func(id string) error { return w.Market.InterruptReservation(id) }, "aws.ec2", `"instance-termination-time":"20`,
		},
	}
	for kind, c := range cases { // each of a machine of its own: some of them end it
		id := of(w.ec2().CreateFleet(t.Context(), fleet("demo-1", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0)))).must(t).Instances[0].InstanceIds[0]
		if err := c.cause(id); err != nil {
			t.Fatal(err)
		}
		detail := strings.ReplaceAll(c.detail, "ID", id)
		eventually(t, kind+" in the queue", func() bool {
			got, _, err := w.Market.Receive("demo", 100, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range got {
				var e struct {
					Source     string
					DetailType string `json:"detail-type"`
					Account    string
					Region     string
					Time       time.Time
					Detail     json.RawMessage
				}
				if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
					t.Fatal(err)
				}
				if e.DetailType != kind {
					continue
				}
				if e.Source != c.source || e.Account != "123456789012" || e.Region != "us-west-2" || e.Time.IsZero() || !strings.Contains(string(e.Detail), detail) {
					t.Errorf("%s is %s: %s", kind, m.Body, c.why)
				}
				return true
			}
			return false
		})
	}
}
