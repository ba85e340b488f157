package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/clock"
)

// Clients are one client for each service.
type Clients struct {
	Region  string
	EC2     *ec2.Client
	IAM     *iam.Client
	SSM     *ssm.Client
	EKS     *eks.Client
	SQS     *sqs.Client
	Pricing *pricing.Client
	Shift   *arczonalshift.Client

	meter       *meter
	credentials aws.CredentialsProvider
}

// Authenticate finds credentials, and says why there are none. It does not ask AWS whether they are valid.
func (c *Clients) Authenticate(ctx context.Context) error {
	_, err := c.credentials.Retrieve(ctx)
	return err
}

// OnCall gets each call: its service, its action, and the SDK's input.
type OnCall func(service, action string, input any)

// Options say how to reach AWS. What is empty follows the SDK's standard chain:
// environment, shared files, web identity, Pod Identity, instance role.
type Options struct {
	Region   string
	Version  string                      // of this program, for the user agent
	OnCall   OnCall                      // called before each call is sent; may be nil
	ReadOnly bool                        // refuse calls that do more than look
	Acts     func(context.Context) error // asked before every attempt of a call that does more than look; nil: nothing is
	HTTP     aws.HTTPClient              // what carries the calls; nil: the SDK's own
	Say      func(string)                // called with what the SDK logs; may be nil
}

// Connect finds credentials and a region and returns the clients. It sends nothing but, where no region is configured, a question to the instance metadata service.
func Connect(ctx context.Context, o Options) (*Clients, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRegion(o.Region),
		config.WithLogger(logging.LoggerFunc(func(_ logging.Classification, format string, args ...any) {
			if o.Say != nil {
				o.Say(fmt.Sprintf(format, args...))
			}
		})),
		config.WithRetryer(func() aws.Retryer { return newBudget(clock.Wall, urgent) }),
		config.WithAPIOptions([]func(*middleware.Stack) error{
			awsmiddleware.AddUserAgentKeyValue("tenon", o.Version),
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("read AWS configuration: %w", err)
	}
	if o.HTTP != nil {
		cfg.HTTPClient = o.HTTP
	}
	if cfg.Region == "" {
		if cfg.Region, err = metadataRegion(ctx, cfg); err != nil {
			return nil, err
		}
	}
	cfg.APIOptions = append(cfg.APIOptions, guard(o.ReadOnly, o.OnCall)) // not before: where credentials come from is the SDK's own business
	m := &meter{now: clock.Wall}
	cfg.APIOptions = append(cfg.APIOptions, m.measure)
	if o.Acts != nil {
		cfg.APIOptions = append(cfg.APIOptions, fence(o.Acts))
	}
	list, optional := cfg.Copy(), cfg.Copy() // of what can be done without
	list.Region = inventory.PricingRegion(cfg.Region)
	list.RetryMaxAttempts, optional.RetryMaxAttempts = optionalAttempts, optionalAttempts
	return &Clients{
		Region: cfg.Region, EC2: ec2.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), EKS: eks.NewFromConfig(optional),
		SQS: sqs.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(list), Shift: arczonalshift.NewFromConfig(optional), meter: m, credentials: cfg.Credentials,
	}, nil
}

// looks reports whether an operation only looks, by the names that AWS gives to those that do.
func looks(action string) bool {
	for _, prefix := range []string{"Describe", "Get", "List"} {
		if strings.HasPrefix(action, prefix) {
			return true
		}
	}
	return false
}

// fence asks before every attempt of a call that does more than look whether
// this process may still act. A call can wait long between attempts, and a
// process can be paused: what is asked before the first attempt says little of the last.
func fence(acts func(context.Context) error) func(*middleware.Stack) error {
	step := middleware.FinalizeMiddlewareFunc("TenonFence",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if action := awsmiddleware.GetOperationName(ctx); !looks(action) {
				if err := acts(ctx); err != nil {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, fmt.Errorf("%s is not sent: %w", action, err)
				}
			}
			return next.HandleFinalize(ctx, in)
		})
	return func(s *middleware.Stack) error { return s.Finalize.Add(step, middleware.After) }
}

// metadataRegion asks the machine this runs on for its region.
func metadataRegion(ctx context.Context, cfg aws.Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := imds.NewFromConfig(cfg).GetRegion(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("find the region: %w; set AWS_REGION", err)
	}
	return out.Region, nil
}

// guard refuses operations that are not declared, and those that do more than
// look if it may only look, and hands the others to onCall.
func guard(readOnly bool, onCall OnCall) func(*middleware.Stack) error {
	declared := map[string]string{} // action → service
	for _, c := range Calls() {
		declared[c.Action] = c.Service
	}
	step := middleware.InitializeMiddlewareFunc("TenonDeclaredCalls",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			action := awsmiddleware.GetOperationName(ctx)
			service, ok := declared[action]
			if !ok {
				return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("%s %s is not among the declared calls: add it to access.Calls, so that the policies grant it", awsmiddleware.GetServiceID(ctx), action)
			}
			if readOnly && !looks(action) {
				return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("%s %s is not sent: this program may only look", awsmiddleware.GetServiceID(ctx), action)
			}
			if onCall != nil {
				onCall(service, action, in.Parameters)
			}
			return next.HandleInitialize(ctx, in)
		})
	return func(s *middleware.Stack) error { return s.Initialize.Add(step, middleware.After) }
}

// Observe has a function called for every request that ends from now on, and before
// that for each of its attempts. Several goroutines may call it at once.
func (c *Clients) Observe(to func(Done)) { c.meter.to.Store(&to) }
