package access

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// optionalAttempts is how often a question is asked whose answer can be done without.
// Asking five times would keep callers waiting that need no answer.
const optionalAttempts = 2

// RetryThrottlesOnly has the SDK send a call again only if AWS refused it as too frequent,
// so that it was not carried out. What became of a call without an answer is for
// the caller to find out: not every server keeps to tokens.
func RetryThrottlesOnly(o *ec2.Options) {
	if r, ok := o.Retryer.(aws.RetryerV2); ok {
		o.Retryer = throttlesOnly{r}
	}
}

type throttlesOnly struct{ aws.RetryerV2 }

// IsErrorRetryable is the SDK's.
func (u throttlesOnly) IsErrorRetryable(err error) bool {
	return u.RetryerV2.IsErrorRetryable(err) && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}
