// Package image finds the machine images that a class selects.
package image

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/ami"
	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// How long answers are used: a class sees a new image within the minute, unless an
// operator says otherwise; a public parameter changes when AWS releases, one of the
// user's own at any time.
const (
	imagesFresh    = time.Minute
	publicFresh    = 24 * time.Hour
	parameterFresh = 5 * time.Minute
)

// Finder asks EC2 and SSM and remembers the answers for a while.
type Finder struct {
	ec2 *ec2.Client
	ssm *ssm.Client
	now clock.Now

	fresh      time.Duration                // how long an answer about images is used
	found      *answers.Memory[[]ami.Image] // by selector
	parameters *answers.Memory[string]      // by name; empty: there is none
}

// askerOf is what a class is as long as it is not edited. That something is not
// there is remembered for the asker alone: an edited class asks again at once.
func askerOf(c nodeclass.Class) string {
	return fmt.Sprintf("%s/%s %s@%d", c.Ref.Kind, c.Ref.Name, c.UID, c.Generation)
}

// New returns a Finder over clients, which uses an answer about images for so
// long; for a minute if that is zero.
func New(e *ec2.Client, s *ssm.Client, images time.Duration, now clock.Now) *Finder {
	return &Finder{
		ec2: e, ssm: s, now: now, fresh: cmp.Or(images, imagesFresh),
		found:      answers.New(now, answers.Rules[[]ami.Image]{Nothing: func(i []ami.Image) bool { return len(i) == 0 }}),
		parameters: answers.New(now, answers.Rules[string]{Nothing: func(value string) bool { return value == "" }}),
	}
}

// Find returns the images of a class on a cluster of that minor version, newest
// first, one for each kind of machine.
func (f *Finder) Find(ctx context.Context, c nodeclass.Class, kubernetes string) ([]ami.Image, error) {
	var all []ami.Image
	for _, s := range c.Images {
		found, err := f.bySelector(ctx, askerOf(c), s, kubernetes)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, f.none(c, kubernetes)
	}
	return ami.Choose(all), nil
}

// none says why a class has no image. Parameters that are not there are named:
// nothing else about the class need be wrong.
func (f *Finder) none(c nodeclass.Class, kubernetes string) error {
	var why []string
	for _, s := range c.Images {
		var lacks []string
		names := slices.Compact(slices.Sorted(slices.Values(parametersOf(s, kubernetes))))
		for _, name := range names {
			if value, _ := f.parameters.Known(name); value == "" {
				lacks = append(lacks, name)
			}
		}
		switch {
		case len(names) == 0:
		case len(lacks) < len(names):
			why = append(why, "the images that SSM names for "+cmp.Or(s.Alias, s.Parameter)+" are not there, or not shared with this account")
		case s.Parameter != "":
			why = append(why, fmt.Sprintf("SSM has no parameter %s: create it, or correct the selector", s.Parameter))
		default:
			why = append(why, fmt.Sprintf("alias %s has no images for Kubernetes %s: SSM has no parameter %s: choose a version that is published for it", s.Alias, kubernetes, strings.Join(lacks, ", ")))
		}
	}
	if len(why) == 0 {
		why = []string{"correct its image selector, or share the image with this account"}
	}
	return cloud.Errorf(cloud.NotReady, awsv1.ReasonAMINotFound, "no amis exist given constraints of class %s: %s", c.Ref.Name, strings.Join(why, "; "))
}

// parametersOf are the parameters by which a selector finds images.
func parametersOf(s nodeclass.ImageSelector, kubernetes string) []string {
	if s.Parameter != "" {
		return []string{s.Parameter}
	}
	family, version, err := ami.Alias(s.Alias)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range ami.Parameters(family, version, kubernetes) {
		out = append(out, p.Name)
	}
	return out
}

func (f *Finder) bySelector(ctx context.Context, by string, s nodeclass.ImageSelector, kubernetes string) ([]ami.Image, error) {
	key := fmt.Sprintf("%q %q %t %s", []string{kubernetes, s.Alias, s.Parameter}, s.Owners, s.Legacy, s.Key())
	return f.found.GetAs(ctx, by, key, func(ctx context.Context) ([]ami.Image, time.Duration, error) {
		found, err := f.ask(ctx, by, s, kubernetes)
		if err != nil {
			return nil, 0, err
		}
		return found, f.fresh, nil
	})
}

func (f *Finder) ask(ctx context.Context, by string, s nodeclass.ImageSelector, kubernetes string) ([]ami.Image, error) {
	switch {
	case s.Alias != "":
		return f.byAlias(ctx, by, s.Alias, kubernetes)
	case s.Parameter != "":
		id, err := f.parameter(ctx, by, s.Parameter, parameterFresh)
		if err != nil || id == "" {
			return nil, err
		}
		return f.describe(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}}, s)
	}
	in := &ec2.DescribeImagesInput{Filters: network.Filters(s.Selector, "image-id"), MaxResults: aws.Int32(1000)}
	in.Filters = append(in.Filters, ec2types.Filter{Name: aws.String("state"), Values: []string{"available"}})
	switch {
	case len(s.Owners) > 0:
		in.Owners = s.Owners
	case len(s.IDs) == 0:
		in.Owners = []string{"self", "amazon"}
	}
	return f.describe(ctx, in, s)
}

// byAlias returns the images that AWS publishes for a family. A family lacks
// some kinds of machine in some versions; those parameters are passed over.
func (f *Finder) byAlias(ctx context.Context, by string, alias, kubernetes string) ([]ami.Image, error) {
	family, version, err := ami.Alias(alias)
	if err != nil {
		return nil, cloud.Errorf(cloud.NotReady, awsv1.ReasonAMINotFound, "%v", err)
	}
	if why := ami.Unsupported(family, kubernetes); why != "" {
		return nil, cloud.Errorf(cloud.NotReady, "UnsupportedAlias", "%s", why)
	}
	ids := map[string][]ami.Parameter{} // what each image is for
	for _, p := range ami.Parameters(family, version, kubernetes) {
		id, err := f.parameter(ctx, by, p.Name, publicFresh)
		if err != nil {
			return nil, err
		}
		if id != "" {
			ids[id] = append(ids[id], p)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := f.describe(ctx, &ec2.DescribeImagesInput{
		Filters: []ec2types.Filter{{Name: aws.String("image-id"), Values: slices.Sorted(maps.Keys(ids))}},
	}, nodeclass.ImageSelector{Selector: nodeclass.Selector{IDs: slices.Sorted(maps.Keys(ids))}})
	if err != nil {
		return nil, err
	}
	var out []ami.Image
	for _, i := range found {
		for _, p := range ids[i.ID] {
			i.Requirements = p.Requirements
			out = append(out, i)
		}
	}
	return out, nil
}

// parameter returns the value of a parameter; empty if there is none.
func (f *Finder) parameter(ctx context.Context, by string, name string, fresh time.Duration) (string, error) {
	return f.parameters.GetAs(ctx, by, name, func(ctx context.Context) (string, time.Duration, error) {
		out, err := f.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
		switch {
		case refusal.Gone(err), refusal.Absent(err):
			return "", parameterFresh, nil // AWS may publish it any day
		case err != nil:
			return "", 0, refusal.Wrap("get parameter "+name, err)
		case out.Parameter == nil:
			return "", fresh, nil
		}
		return aws.ToString(out.Parameter.Value), fresh, nil
	})
}

func (f *Finder) describe(ctx context.Context, in *ec2.DescribeImagesInput, s nodeclass.ImageSelector) ([]ami.Image, error) {
	in.IncludeDeprecated = aws.Bool(true)
	var out []ami.Image
	pages := ec2.NewDescribeImagesPaginator(f.ec2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if refusal.Is(err, "InvalidAMIID.NotFound") || refusal.Is(err, "InvalidAMIID.Unavailable") {
			return nil, nil
		}
		if err != nil {
			return nil, refusal.Wrap("describe images", err)
		}
		for _, i := range page.Images {
			if len(in.ImageIds) > 0 && !slices.Contains(in.ImageIds, aws.ToString(i.ImageId)) ||
				i.State != "" && i.State != ec2types.ImageStateAvailable ||
				!s.Meets(aws.ToString(i.ImageId), aws.ToString(i.Name), network.TagsOf(i.Tags)) {
				continue // not what was asked for: some servers pass over filters
			}
			if img, ok := f.read(i, s); ok {
				out = append(out, img)
			}
		}
	}
	return out, nil
}

// read turns EC2's description into an image; false for a machine architecture that nodes do not have.
func (f *Finder) read(i ec2types.Image, s nodeclass.ImageSelector) (ami.Image, bool) {
	arch, ok := ami.Arch(string(i.Architecture))
	if !ok {
		return ami.Image{}, false
	}
	created, _ := time.Parse(time.RFC3339, aws.ToString(i.CreationDate))
	out := ami.Image{ID: aws.ToString(i.ImageId), Name: aws.ToString(i.Name), Created: created, Requirements: ami.OfArch(arch)}
	if end, err := time.Parse(time.RFC3339, aws.ToString(i.DeprecationTime)); err == nil {
		out.Deprecated = f.now().After(end)
	}
	if s.Legacy {
		tags := map[string]string{}
		for _, t := range i.Tags {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
		out.Requirements = ami.OfTags(out.Requirements, tags, wellKnown)
	}
	return out, true
}

// wellKnown reports whether a tag of an image is the name of a label that machines have.
func wellKnown(key string) bool {
	return slices.Contains([]string{label.InstanceType, label.Arch, label.OS, label.Zone, label.Region, label.CapacityType}, key) ||
		strings.HasPrefix(key, "karpenter.k8s.aws/instance-")
}
