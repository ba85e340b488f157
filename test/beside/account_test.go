package beside

import (
	"context"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cloudtest"
)

const (
	region      = "us-west-2"
	clusterName = "demo"
	role        = "KarpenterNodeRole-demo"
	parameter   = "/demo/image"
	queue       = "demo"
)

var loaded = sync.OnceValues(catalog.Load)

// account is what was made on the server for one test.
type account struct {
	t      *testing.T
	wire   *wire
	image  string
	ec2    *ec2.Client
	iam    *iam.Client
	sqs    *sqs.Client
	broken bool // the class selects no subnet
}

// wire carries requests to the server, and has some go wrong. Its connections
// end with the answer: one that idles would keep virtual time from passing.
type wire struct {
	http.RoundTripper

	mu    sync.Mutex
	sent  map[string]int // by action
	wrong map[cloudtest.Call]trouble
}

type trouble struct {
	fault cloudtest.Fault
	times int
}

func newWire() *wire {
	dial := &net.Dialer{}
	return &wire{RoundTripper: &http.Transport{DisableKeepAlives: true, DialContext: dial.DialContext}, sent: map[string]int{}, wrong: map[cloudtest.Call]trouble{}}
}

// lost is an answer that never came.
type lost struct{}

// Error is error's.
func (lost) Error() string { return "the connection was cut" }

// RoundTrip is http.RoundTripper's.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	action, r, err := actionOf(r)
	if err != nil {
		return nil, err
	}
	switch w.next(action) {
	case cloudtest.Drop:
		return nil, lost{}
	case cloudtest.Throttle:
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Status: "503", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{"Content-Type": {"text/xml"}},
			Body: io.NopCloser(strings.NewReader("<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors><RequestID>1</RequestID></Response>")),
		}, nil
	case cloudtest.Lose:
		answer, err := w.RoundTripper.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		return nil, lost{}
	}
	return w.RoundTripper.RoundTrip(r)
}

// actionOf reads what a request asks for, and returns one that can be sent.
func actionOf(r *http.Request) (string, *http.Request, error) {
	if target := r.Header.Get("X-Amz-Target"); target != "" || r.Body == nil {
		return target[strings.LastIndexByte(target, '.')+1:], r, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", nil, err
	}
	form, _ := neturl.ParseQuery(string(body)) // what is no form has no action
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return form.Get("Action"), r, nil
}

// next counts a call and says what is to go wrong with it.
func (w *wire) next(action string) cloudtest.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[action]++
	call := cloudtest.Call("")
	switch {
	case action == "CreateFleet":
		call = cloudtest.Buy
	case action == "TerminateInstances":
		call = cloudtest.End
	case strings.HasPrefix(action, "Describe"):
		call = cloudtest.Look
	}
	is := w.wrong[call]
	if is.times == 0 {
		return ""
	}
	is.times--
	w.wrong[call] = is
	return is.fault
}

// open empties the server and makes what a cluster needs there.
func open(t *testing.T) *account {
	t.Helper()
	at := url(t)
	a := &account{t: t, wire: newWire()}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/moto-api/reset", nil)
	must(t, err)
	answer, err := a.wire.RoundTripper.RoundTrip(r)
	must(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	must(t, err)
	must(t, answer.Body.Close())

	cfg := awssdk.Config{Region: region, BaseEndpoint: awssdk.String(at), Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), HTTPClient: &http.Client{Transport: a.wire.RoundTripper}}
	a.ec2, a.iam, a.sqs = ec2.NewFromConfig(cfg), iam.NewFromConfig(cfg), sqs.NewFromConfig(cfg)
	ctx := t.Context()
	subnets := of(a.ec2.DescribeSubnets(ctx, nil))(t).Subnets
	groups := of(a.ec2.DescribeSecurityGroups(ctx, nil))(t).SecurityGroups
	var ids []string
	for _, s := range subnets {
		ids = append(ids, *s.SubnetId)
	}
	tag := []ec2types.Tag{{Key: awssdk.String("karpenter.sh/discovery"), Value: awssdk.String(clusterName)}}
	of(a.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: append(slices.Clone(ids), *groups[0].GroupId), Tags: tag}))(t)
	images := of(a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}}}))(t).Images
	if len(images) == 0 {
		t.Fatal("the server has no image for x86_64")
	}
	a.image = *images[0].ImageId
	of(ssm.NewFromConfig(cfg).PutParameter(ctx, &ssm.PutParameterInput{Name: awssdk.String(parameter), Value: awssdk.String(a.image), Type: ssmtypes.ParameterTypeString}))(t)
	arn := of(a.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: awssdk.String(role), AssumeRolePolicyDocument: awssdk.String("{}")}))(t).Role.Arn
	of(eks.NewFromConfig(cfg).CreateCluster(ctx, &eks.CreateClusterInput{
		Name: awssdk.String(clusterName), RoleArn: arn, Version: awssdk.String("1.34"), ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: ids[:2]},
	}))(t)
	of(a.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String(queue)}))(t)
	return a
}

// of is the answer of a call that must not fail.
func of[T any](out T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return out
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// environment is that of a controller whose AWS is the server.
func environment(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", url(t))
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
}

// driver returns a driver as a new process has it.
func (a *account) driver() *aws.Driver {
	a.t.Helper()
	all, err := loaded()
	must(a.t, err)
	clients, err := access.Connect(context.Background(), access.Options{Region: region, Version: "test", HTTP: &http.Client{Transport: a.wire}})
	must(a.t, err)
	tagged := []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "karpenter.sh/discovery", Values: []string{clusterName}}}}}
	return aws.New(aws.Config{
		Clients: clients, Catalog: all, Settings: aws.Settings{Cluster: clusterName, Queue: queue},
		Said: func(s say.Line) { a.t.Logf("%s %v", s.Message, s.Fields) },
		Classes: func(_ context.Context, ref cloud.ClassRef) (nodeclass.Class, error) {
			c := nodeclass.Class{
				Ref: ref, UID: "uid", Family: "AL2023", Subnets: tagged, Groups: tagged, Role: role, Hash: "1", HashVersion: "v",
				Images:   []nodeclass.ImageSelector{{Parameter: parameter}},
				Metadata: nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 1},
			}
			if a.broken {
				c.Subnets = []nodeclass.Selector{{IDs: []string{"subnet-0"}}}
			}
			return c, nil
		},
	})
}

// running are the instances that are there, whatever the driver knows of them.
func (a *account) running() []ec2types.Instance {
	a.t.Helper()
	var out []ec2types.Instance
	pages := ec2.NewDescribeInstancesPaginator(a.ec2, nil)
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		must(a.t, err)
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				if i.State.Name == ec2types.InstanceStateNamePending || i.State.Name == ec2types.InstanceStateNameRunning {
					out = append(out, i)
				}
			}
		}
	}
	return out
}

func templateOf() cloud.Template {
	return cloud.Template{ID: "t", Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}}
}

// stage is the account as the law of drivers wants it. The server cannot be made
// to sell out, nor to hide what it has made.
func (a *account) stage() cloudtest.Stage {
	return cloudtest.Stage{
		Start: func() cloud.Driver { return a.driver() }, Template: templateOf(), Menu: []string{"c5.large", "m5.large", "m5a.large"}, Small: true,
		Running: func() []cloud.MachineID {
			var out []cloud.MachineID
			for _, i := range a.running() {
				out = append(out, cloud.MachineID(*i.InstanceId))
			}
			return out
		},
		Fault: func(c cloudtest.Call, f cloudtest.Fault, times int) {
			a.wire.mu.Lock()
			defer a.wire.mu.Unlock()
			a.wire.wrong[c] = trouble{f, times}
		},
		Break: func() { a.broken = true },
	}
}

// patience is how long a story of this package may take.
const patience = 5 * time.Minute
