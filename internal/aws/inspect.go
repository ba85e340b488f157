package aws

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Inspection is what a class selects. What is broken is named by the condition
// of an EC2NodeClass that says it.
type Inspection struct {
	Hash    string
	Subnets []awsv1.Subnet // most free addresses first
	Groups  []awsv1.SecurityGroup
	Images  []awsv1.AMI // newest first
	Profile string

	Reservations []awsv1.CapacityReservation // by id

	Tried   bool              // EC2 was asked, by dry runs, whether it would launch
	Shifted []string          // ids of zones that the cluster's traffic is shifted away from
	Without map[string]string // what a condition that holds does without
	Broken  map[string]*cloud.Error
}

// Inspect finds what a class selects, each part for itself. The error is of
// what has to be asked again: nothing is known to be wrong with the class.
func (d *Driver) Inspect(ctx context.Context, ref cloud.ClassRef) (Inspection, error) {
	c, err := d.cfg.Classes(ctx, ref)
	if err != nil {
		return Inspection{}, err
	}
	out := Inspection{Hash: c.Hash, Without: map[string]string{}, Broken: map[string]*cloud.Error{}}
	var later []error
	take := func(condition string, err error) {
		e, coded := errors.AsType[*cloud.Error](err)
		switch {
		case err == nil:
		case coded && (e.Code == cloud.NotReady || e.Code == cloud.Invalid || e.Code == cloud.Unauthorised || e.Code == cloud.Gone):
			out.Broken[condition] = e
		default:
			later = append(later, err)
		}
	}
	for condition, look := range map[string]func(context.Context, nodeclass.Class, *Inspection) error{
		awsv1.ConditionSubnetsReady:         d.inspectSubnets,
		awsv1.ConditionSecurityGroupsReady:  d.inspectGroups,
		awsv1.ConditionAMIsReady:            d.inspectImages,
		awsv1.ConditionInstanceProfileReady: d.inspectProfile,
		awsv1.ConditionPlacementGroupReady:  d.inspectPlacement,

		awsv1.ConditionCapacityReservationsReady: d.inspectReservations,
	} {
		take(condition, look(ctx, c, &out))
	}
	out.Shifted = d.away(ctx)
	if len(out.Broken)+len(later) == 0 {
		take(awsv1.ConditionValidationSucceeded, d.validate(ctx, c, &out))
	}
	return out, errors.Join(later...)
}

func (d *Driver) inspectSubnets(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	found, err := d.network.Subnets(ctx, c.Subnets)
	if err == nil && len(found) == 0 {
		err = noSubnets(c)
	}
	for _, s := range found {
		out.Subnets = append(out.Subnets, awsv1.Subnet{ID: s.ID, Zone: s.Zone, ZoneID: s.ZoneID})
	}
	return err
}

func (d *Driver) inspectGroups(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if c.LaunchTemplate != "" {
		return nil // it names its own
	}
	found, err := d.network.Groups(ctx, c.Groups)
	if err == nil && len(found) == 0 {
		err = noGroups(c)
	}
	for _, g := range found {
		out.Groups = append(out.Groups, awsv1.SecurityGroup{ID: g.ID, Name: g.Name})
	}
	return err
}

func (d *Driver) inspectImages(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if c.LaunchTemplate != "" {
		return d.ownTemplate(ctx, c)
	}
	_, version, err := d.home.find(ctx)
	if err != nil {
		return err
	}
	found, err := d.amis.find(ctx, c, version)
	for _, i := range found {
		out.Images = append(out.Images, awsv1.AMI{ID: i.ID, Name: i.Name, Deprecated: i.Deprecated, Requirements: selectorOf(i.Requirements)})
	}
	return err
}

func (d *Driver) inspectProfile(ctx context.Context, c nodeclass.Class, out *Inspection) (err error) {
	if c.LaunchTemplate == "" {
		out.Profile, err = d.profile(ctx, c)
	}
	return err
}

// expiring is how long before its end a capacity block is of no use to new
// machines: AWS starts to end its machines half an hour before.
const expiring = 40 * time.Minute

func (d *Driver) inspectReservations(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if d.cfg.Settings.NoReserved {
		return nil
	}
	found, err := d.reserved.Find(ctx, c.Reservations)
	if code := cloud.CodeOf(err); err != nil && code != cloud.Unauthorised && code != cloud.Invalid && code != cloud.Throttled {
		out.Without[awsv1.ConditionCapacityReservationsReady] = "reservations cannot be read: " + err.Error()
		err = nil
	}
	for _, r := range found {
		shown := awsv1.CapacityReservation{
			ID: r.ID, AvailabilityZone: r.Zone, InstanceType: r.Type, InstanceMatchCriteria: r.Matching, OwnerID: r.Owner,
			ReservationType: r.Kind(), State: "active", Interruptible: r.Interruptible,
		}
		if !r.Ends.IsZero() {
			shown.EndTime = &metav1.Time{Time: r.Ends}
			if r.Block && r.Ends.Sub(d.cfg.Now()) < expiring {
				shown.State = "expiring"
			}
		}
		out.Reservations = append(out.Reservations, shown)
	}
	return err
}

func (d *Driver) inspectPlacement(ctx context.Context, c nodeclass.Class, _ *Inspection) error {
	_, err := d.placementOf(ctx, c)
	return err
}

func selectorOf(s label.Set) []corev1.NodeSelectorRequirement {
	out := make([]corev1.NodeSelectorRequirement, 0, len(s))
	for _, r := range s {
		out = append(out, corev1.NodeSelectorRequirement{Key: r.Key, Operator: corev1.NodeSelectorOperator(r.Op()), Values: r.Values})
	}
	return out
}

func noSubnets(c nodeclass.Class) error {
	return cloud.Errorf(cloud.NotReady, awsv1.ReasonSubnetsNotFound, "no subnet matched selector %s: tag a subnet so, or correct the selector", describe(c.Subnets))
}

func noGroups(c nodeclass.Class) error {
	return cloud.Errorf(cloud.NotReady, awsv1.ReasonSecurityGroupsNotFound, "no security groups exist given constraints %s: tag a group so, or correct the selector", describe(c.Groups))
}

// Retire ends what was made for a class that is being deleted.
func (d *Driver) Retire(ctx context.Context, ref cloud.ClassRef) error {
	c, err := d.cfg.Classes(ctx, ref)
	if err != nil {
		return err
	}
	return d.Forget(ctx, c)
}
