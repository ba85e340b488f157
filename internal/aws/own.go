package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// ownTemplate looks whether the launch template is there that a class names as its user's own. Without it every launch
// would be refused. Whether it can be looked up keeps nobody from launching.
func (d *Driver) ownTemplate(ctx context.Context, c nodeclass.Class) error {
	_, err := d.clients.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{c.LaunchTemplate}})
	if refusal.Gone(err) {
		return cloud.Errorf(cloud.NotReady, "LaunchTemplateNotFound", "there is no launch template %q: make it in this region, or correct launchTemplate", c.LaunchTemplate)
	}
	return nil
}
