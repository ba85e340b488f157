package examine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// probe is one call that shows whether it is allowed.
type probe struct {
	permission string // as IAM names it
	ask        func(context.Context) error
}

// describeCluster is the permission whose probe asks for the cluster itself.
const describeCluster = "eks:DescribeCluster"

// nameCluster is what to do about a cluster that EKS does not know.
const nameCluster = "correct --cluster-name (CLUSTER_NAME) or --region (AWS_REGION): aws eks list-clusters has the names; a cluster that is none of EKS' needs --cluster-endpoint (CLUSTER_ENDPOINT)"

// strange adds that EKS knows no cluster of the name. That is right for a cluster that is none of EKS', which
// says where its API server is; else the name or the region is a slip, and what is tagged with the name belongs to nothing.
func (e *Examiner) strange(f *findings) {
	const check = "cluster"
	if e.Endpoint != "" {
		f.good(check, "EKS does not know %s; machines get the endpoint %s", e.Cluster, e.Endpoint)
		return
	}
	f.bad(check, nameCluster, "EKS has no cluster %s in %s", e.Cluster, e.Clients.Region)
}

// The checks without which nothing else can be looked at.
const (
	credentials     = "credentials"
	connection      = "connection"
	giveCredentials = "give the controller valid credentials: check its service account's role, or the environment"
)

// Futile reports whether an account was found to be out of reach, so that examining its classes would take long and find nothing.
func Futile(account []Finding) bool {
	return slices.ContainsFunc(account, func(f Finding) bool {
		return f.Level == Bad && (f.Check == credentials || f.Check == connection)
	})
}

// unsent reports whether a call did not get as far as AWS.
func unsent(err error) bool {
	_, ok := errors.AsType[*smithyhttp.RequestSendError](err)
	return ok
}

// Account finds what the controller's credentials lack, and whether the
// queue is there. It changes nothing: calls that would are dry runs, or are not
// made where AWS offers none.
func (e *Examiner) Account(ctx context.Context) []Finding {
	var f findings
	if err := e.Clients.Authenticate(ctx); err != nil {
		f.bad(credentials, giveCredentials, "there are none: %v", refusal.Wrap("look for them", err))
		return f
	}
	for _, p := range e.probes() {
		err := p.ask(ctx)
		switch kind := refusal.KindOf(err); {
		case err == nil, refusal.Is(err, "DryRunOperation"), kind == cloud.Gone, kind == cloud.Invalid:
			f.good(p.permission, "allowed")
			if p.permission == describeCluster && refusal.Gone(err) {
				e.strange(&f)
			}
		case refusal.Is(err, "ExpiredToken"), refusal.Is(err, "ExpiredTokenException"), refusal.Is(err, "RequestExpired"), refusal.Is(err, "AuthFailure"), refusal.Is(err, "InvalidClientTokenId"), refusal.Is(err, "UnrecognizedClientException"), refusal.Is(err, "SignatureDoesNotMatch"):
			f.bad(credentials, giveCredentials, "%v", refusal.Wrap(p.permission, err))
			return f // nothing else would say more
		case unsent(err) && strings.HasPrefix(p.permission, "ec2:"):
			f.bad(connection, "see whether the region is right (--region, AWS_REGION), whether there is a way to it (proxy, VPC endpoint), and where AWS_ENDPOINT_URL points, if it is set", "EC2 cannot be reached: %v", refusal.Wrap(p.permission, err))
			return f
		case kind == cloud.Unauthorised:
			f.bad(p.permission, refusal.Advice(err), "%v", refusal.Wrap("not allowed", err))
		default:
			f.unclear(p.permission, "%v", refusal.Wrap("no answer", err))
		}
	}
	e.examineMachines(ctx, &f)
	e.examineQueue(ctx, &f)
	return f
}

// probes are calls that change nothing, one for each permission to look.
func (e *Examiner) probes() []probe {
	calls, dry, five := e.Clients.EC2, aws.Bool(true), aws.Int32(5)
	list := []probe{
		{"ec2:DescribeSubnets", func(ctx context.Context) error {
			_, err := calls.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeSecurityGroups", func(ctx context.Context) error {
			_, err := calls.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeImages", func(ctx context.Context) error {
			_, err := calls.DescribeImages(ctx, &ec2.DescribeImagesInput{DryRun: dry, Owners: []string{"self"}})
			return err
		}},
		{"ec2:DescribeInstances", func(ctx context.Context) error {
			_, err := calls.DescribeInstances(ctx, &ec2.DescribeInstancesInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeInstanceTypes", func(ctx context.Context) error {
			_, err := calls.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeInstanceTypeOfferings", func(ctx context.Context) error {
			_, err := calls.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeSpotPriceHistory", func(ctx context.Context) error {
			_, err := calls.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{DryRun: dry})
			return err
		}},
		{"ec2:DescribeLaunchTemplates", func(ctx context.Context) error {
			_, err := calls.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{DryRun: dry})
			return err
		}},
		{describeCluster, func(ctx context.Context) error {
			_, err := e.Clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(e.Cluster)})
			return err
		}},
		{"ssm:GetParameter", func(ctx context.Context) error {
			_, err := e.Clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id")})
			return err
		}},
		{"iam:GetInstanceProfile", func(ctx context.Context) error {
			_, err := e.Clients.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(e.Cluster + "_examined")})
			return err
		}},
		{"iam:ListInstanceProfiles", func(ctx context.Context) error {
			_, err := e.Clients.IAM.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{PathPrefix: aws.String("/karpenter/"), MaxItems: five})
			return err
		}},
	}
	if !e.Isolated {
		list = append(list, probe{"pricing:GetProducts", func(ctx context.Context) error {
			_, err := e.Clients.Pricing.GetProducts(ctx, &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(1)})
			return err
		}})
	}
	return list
}

// examineMachines rehearses tagging and ending a machine of the cluster. Without
// one nothing can be said: policies allow both by the machine's own tags.
func (e *Examiner) examineMachines(ctx context.Context, f *findings) {
	found, err := e.Machines.List(ctx)
	if err != nil {
		f.failed("machines", err)
		return
	}
	if len(found) == 0 {
		f.unclear("ec2:TerminateInstances, ec2:CreateTags", "the cluster has no machine yet to rehearse them with")
		return
	}
	id, dry := string(found[0].ID), aws.Bool(true)
	_, err = e.Clients.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}, DryRun: dry})
	f.rehearsed("ec2:TerminateInstances", id, err)
	_, err = e.Clients.EC2.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{id}, DryRun: dry, Tags: template.Tags(map[string]string{machine.TagName: found[0].Tags[machine.TagName]}),
	})
	f.rehearsed("ec2:CreateTags", id, err)
}

func (e *Examiner) examineQueue(ctx context.Context, f *findings) {
	const check = "interruption queue"
	name := e.Queue
	if name == "" {
		f.warn(check, "create a queue with its EventBridge rules and set INTERRUPTION_QUEUE",
			"none is configured: spot machines are taken back without a word, two minutes too late to move their pods")
		return
	}
	_, err := e.Clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	switch {
	case err == nil:
		f.good(check, "%s is there", name)
	case refusal.Gone(err):
		f.bad(check, "create it, or correct INTERRUPTION_QUEUE", "%s does not exist", name)
	default:
		f.failed(check, refusal.Wrap("find queue "+name, err))
	}
}
