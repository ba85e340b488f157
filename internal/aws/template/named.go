package template

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// namedFresh is how long an answer is used: all machines of a class are compared with
// it, one after the other, and its user may make the template, or delete it, any time.
const namedFresh = time.Minute

// Named looks for launch templates that are their users' own and remembers the answers for a while.
type Named struct {
	ec2   *ec2.Client
	found *answers.Memory[bool] // whether it is there, by name
}

// NewNamed returns a Named that has looked for none.
func NewNamed(c *ec2.Client, now clock.Now) *Named {
	return &Named{ec2: c, found: answers.New(now, answers.Rules[bool]{})}
}

// Missing reports whether EC2 says that there is no launch template of that name. That it does not say keeps nothing from launching.
func (n *Named) Missing(ctx context.Context, name string) bool {
	there, err := n.found.Get(ctx, name, func(ctx context.Context) (bool, time.Duration, error) {
		_, err := n.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
		if err != nil && !refusal.Gone(err) {
			return false, namedFresh, refusal.Wrap("describe launch template "+name, err)
		}
		return err == nil, namedFresh, nil
	})
	return err == nil && !there
}
