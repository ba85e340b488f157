package selection

import (
	"context"
	"fmt"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/ami"
	"github.com/tenon-sh/tenon/internal/aws/ekscluster"
	"github.com/tenon-sh/tenon/internal/aws/expression"
	"github.com/tenon-sh/tenon/internal/aws/image"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/placement"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Finder finds what templates select. What is missing is an error with code
// NotReady that says what to do.
type Finder struct {
	Classes      Classes
	Network      *network.Finder
	Placement    *placement.Finder
	Templates    *template.Named
	Reservations *reserve.Finder
	Cluster      *ekscluster.Finder
	Images       *image.Finder
	Lasting      *say.Lasting
	NoReserved   bool // capacity reservations are not used

	Expressions *expression.Compiler // nil: expressions in kubelet settings are refused
}

// Of finds what a template selects.
func (f *Finder) Of(ctx context.Context, t cloud.Template) (Selection, error) {
	class, err := f.Classes(ctx, t.Class)
	if err != nil {
		return Selection{}, err
	}
	return f.OfClass(ctx, class, t.Kubelet)
}

// OfClass finds what a class selects. Callers who want the same class share the answers.
func (f *Finder) OfClass(ctx context.Context, class nodeclass.Class, poolKubelet []byte) (Selection, error) {
	s := Selection{Class: class}
	settings := class.Kubelet
	if len(poolKubelet) > 0 {
		settings = poolKubelet
	}
	var err error
	if s.Kubelet, err = kubelet.Parse(settings); err != nil {
		return s, cloud.Errorf(cloud.NotReady, "InvalidKubeletConfiguration", "kubelet settings: %v", err)
	}
	if s.Computed, err = f.Computed(class, s.Kubelet); err != nil {
		return s, err
	}
	if s.Subnets, err = f.SubnetsOf(ctx, class); err != nil {
		return s, err
	}
	if class.LaunchTemplate != "" {
		return s, f.OwnTemplate(ctx, class)
	}
	if s.Placement, err = f.PlacementOf(ctx, class); err != nil {
		return s, err
	}
	s.Reservations, s.Unread = f.ReservationsOf(ctx, class)
	if s.Groups, err = f.GroupsOf(ctx, class); err != nil {
		return s, err
	}
	var version string
	if s.Cluster, version, err = f.Cluster.Find(ctx); err != nil {
		return s, err
	}
	s.Images, err = f.Images.Find(ctx, class, version)
	return s, err
}

// Computed compiles the expressions of a class; nil if it has none.
func (f *Finder) Computed(class nodeclass.Class, k kubelet.Config) (*expression.Program, error) {
	if f.Expressions == nil && k.Expressions.Any() {
		return nil, cloud.Errorf(cloud.NotReady, awsv1.ReasonKubeletExpressionsDisabled, "kubelet settings of class %s have expressions, which are off: write numbers and quantities, or switch NodeClassCEL of --aws-feature-gates on", class.Ref.Name)
	}
	if f.Expressions == nil {
		return nil, nil
	}
	out, err := f.Expressions.Compile(k.Expressions)
	if err != nil {
		return nil, cloud.Errorf(cloud.NotReady, awsv1.ReasonKubeletExpressionInvalid, "%v", err)
	}
	return out, nil
}

// SubnetsOf finds the subnets of a class, those with the most free addresses first. None is an error.
func (f *Finder) SubnetsOf(ctx context.Context, c nodeclass.Class) ([]network.Subnet, error) {
	found, err := f.Network.Subnets(ctx, c.Subnets)
	if err == nil && len(found) == 0 {
		err = cloud.Errorf(cloud.NotReady, awsv1.ReasonSubnetsNotFound, "no subnet matched selector %s: tag a subnet so, or correct the selector", describe(c.Subnets...))
	}
	return found, err
}

// GroupsOf finds the security groups of a class. None is an error.
func (f *Finder) GroupsOf(ctx context.Context, c nodeclass.Class) ([]network.Group, error) {
	found, err := f.Network.Groups(ctx, c.Groups)
	if err == nil && len(found) == 0 {
		err = cloud.Errorf(cloud.NotReady, awsv1.ReasonSecurityGroupsNotFound, "no security groups exist given constraints %s: tag a group so, or correct the selector", describe(c.Groups...))
	}
	return found, err
}

// ImagesOf finds the images of a class, newest first.
func (f *Finder) ImagesOf(ctx context.Context, c nodeclass.Class) ([]ami.Image, error) {
	_, version, err := f.Cluster.Find(ctx)
	if err != nil {
		return nil, err
	}
	return f.Images.Find(ctx, c, version)
}

// OwnTemplate looks whether the launch template is there that a class names as its user's own. Without it every launch
// would be refused. That it cannot be looked up does not keep anything from launching.
func (f *Finder) OwnTemplate(ctx context.Context, c nodeclass.Class) error {
	if f.Templates.Missing(ctx, c.LaunchTemplate) {
		return cloud.Errorf(cloud.NotReady, "LaunchTemplateNotFound", "there is no launch template %q: make it in this region, or correct launchTemplate", c.LaunchTemplate)
	}
	return nil
}

// PlacementOf finds the placement group of a class. Without it nothing is
// launched: a machine outside the group would look as if all were well.
func (f *Finder) PlacementOf(ctx context.Context, c nodeclass.Class) (placement.Group, error) {
	if c.PlacementGroup == nil {
		return placement.Group{}, nil
	}
	g, there, err := f.Placement.Find(ctx, *c.PlacementGroup)
	switch {
	case refusal.Absent(err):
		return g, cloud.Errorf(cloud.NotReady, awsv1.ReasonPlacementGroupFailed, "placement groups cannot be read here: %w", err)
	case err != nil:
		return g, err
	case !there:
		return g, cloud.Errorf(cloud.NotReady, awsv1.ReasonPlacementGroupNotFound, "no placement group meets %s: create it, or correct spec.placementGroupSelector", describe(*c.PlacementGroup))
	}
	return g, nil
}

// ReservationsOf finds the reservations that a class may use, and reports whether
// they could not all be read. What cannot be read is not used; that does not keep anything from launching.
func (f *Finder) ReservationsOf(ctx context.Context, c nodeclass.Class) ([]reserve.Reservation, bool) {
	if f.NoReserved || len(c.Reservations) == 0 {
		return nil, false
	}
	found, err := f.Reservations.Find(ctx, c.Reservations)
	f.Lasting.Note("capacity reservations", "those that were known last are used", err)
	return found, err != nil
}

// describe writes selectors for a message.
func describe(selectors ...nodeclass.Selector) string {
	parts := make([]string, len(selectors))
	for i, s := range selectors {
		var p []string
		for _, t := range s.Tags {
			p = append(p, fmt.Sprintf("%s=%s", t.Key, strings.Join(t.Values, ",")))
		}
		p = append(p, s.IDs...)
		if s.Name != "" {
			p = append(p, "name "+s.Name)
		}
		parts[i] = "{" + strings.Join(p, " ") + "}"
	}
	return strings.Join(parts, " or ")
}
