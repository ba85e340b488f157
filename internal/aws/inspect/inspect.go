// Package inspect says what a class selects, for its status.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/dryrun"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/aws/shift"
	"github.com/tenon-sh/tenon/internal/clock"
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

	Expressions bool // kubelet settings may have them

	Tried   bool              // EC2 was asked, by dry runs, whether it would launch
	Shifted []string          // ids of zones that the cluster's traffic is shifted away from
	Without map[string]string // what a condition that holds does without
	Broken  map[string]*cloud.Error
}

// Inspector looks at classes.
type Inspector struct {
	Selection    *selection.Finder
	Reservations *reserve.Finder
	Profiles     profile.Classes
	Shifts       *shift.Watch
	Trials       *dryrun.Trials
	Now          clock.Now
	NoReserved   bool // capacity reservations are not used

	// Failing are the types for which expressions of a class fail, and how many are left.
	Failing func(context.Context, selection.Selection) (failing []string, left int, err error)
}

// Inspect finds what a class selects, each part for itself. The error is of
// what has to be asked again: nothing is known to be wrong with the class.
func (i *Inspector) Inspect(ctx context.Context, ref cloud.ClassRef) (Inspection, error) {
	c, err := i.Selection.Classes(ctx, ref)
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
		awsv1.ConditionSubnetsReady:         i.inspectSubnets,
		awsv1.ConditionSecurityGroupsReady:  i.inspectGroups,
		awsv1.ConditionAMIsReady:            i.inspectImages,
		awsv1.ConditionInstanceProfileReady: i.inspectProfile,
		awsv1.ConditionPlacementGroupReady:  i.inspectPlacement,

		awsv1.ConditionCapacityReservationsReady: i.inspectReservations,
	} {
		take(condition, look(ctx, c, &out))
	}
	out.Shifted = i.Shifts.Known(ctx)
	take(awsv1.ConditionValidationSucceeded, i.inspectExpressions(ctx, c, &out))
	if len(out.Broken)+len(later) == 0 {
		take(awsv1.ConditionValidationSucceeded, i.validate(ctx, c, &out))
	}
	return out, errors.Join(later...)
}

// inspectExpressions looks whether the expressions in kubelet settings can be compiled, and for which types they fail. A type for which one fails is not
// bought. That breaks the class only when nothing is left: many a sound expression fails for types that are too small for any pool, and to have those
// stop all purchases, at the next type that EC2 brings out, would do more harm.
func (i *Inspector) inspectExpressions(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	out.Expressions = i.Selection.Expressions != nil
	k, err := kubelet.Parse(c.Kubelet)
	if err != nil || !k.Expressions.Any() {
		return nil // of settings that cannot be read the class itself says it
	}
	computed, err := i.Selection.Computed(c, k)
	if err != nil {
		return err
	}
	failing, left, err := i.Failing(ctx, selection.Selection{Class: c, Kubelet: k, Computed: computed})
	switch {
	case err != nil || len(failing) == 0:
		return err
	case left == 0:
		return cloud.Errorf(cloud.NotReady, awsv1.ReasonKubeletExpressionFailed, "expressions fail for every instance type, as for %s", failing[0])
	}
	out.Without[awsv1.ConditionValidationSucceeded] = fmt.Sprintf("%d instance types are not bought, because expressions fail for them: %s", len(failing), failing[0])
	return nil
}

func (i *Inspector) inspectSubnets(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	found, err := i.Selection.SubnetsOf(ctx, c)
	for _, s := range found {
		out.Subnets = append(out.Subnets, awsv1.Subnet{ID: s.ID, Zone: s.Zone, ZoneID: s.ZoneID})
	}
	return err
}

func (i *Inspector) inspectGroups(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if c.LaunchTemplate != "" {
		return nil // it names its own
	}
	found, err := i.Selection.GroupsOf(ctx, c)
	for _, g := range found {
		out.Groups = append(out.Groups, awsv1.SecurityGroup{ID: g.ID, Name: g.Name})
	}
	return err
}

func (i *Inspector) inspectImages(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if c.LaunchTemplate != "" {
		return i.Selection.OwnTemplate(ctx, c)
	}
	found, err := i.Selection.ImagesOf(ctx, c)
	for _, m := range found {
		out.Images = append(out.Images, awsv1.AMI{ID: m.ID, Name: m.Name, Deprecated: m.Deprecated, Requirements: selectorOf(m.Requirements)})
	}
	return err
}

func (i *Inspector) inspectProfile(ctx context.Context, c nodeclass.Class, out *Inspection) (err error) {
	if c.LaunchTemplate == "" {
		out.Profile, err = i.Profiles.Check(ctx, c)
	}
	return err
}

func (i *Inspector) inspectReservations(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if i.NoReserved {
		return nil
	}
	found, err := i.Reservations.Find(ctx, c.Reservations)
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
			if r.Expiring {
				shown.State = "expiring"
			}
		}
		out.Reservations = append(out.Reservations, shown)
	}
	return err
}

func (i *Inspector) inspectPlacement(ctx context.Context, c nodeclass.Class, _ *Inspection) error {
	_, err := i.Selection.PlacementOf(ctx, c)
	return err
}

func selectorOf(s label.Set) []corev1.NodeSelectorRequirement {
	out := make([]corev1.NodeSelectorRequirement, 0, len(s))
	for _, r := range s {
		out = append(out, corev1.NodeSelectorRequirement{Key: r.Key, Operator: corev1.NodeSelectorOperator(r.Op()), Values: r.Values})
	}
	return out
}

// validate has EC2 say whether it would launch machines of a class whose parts have all been found.
func (i *Inspector) validate(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if i.Trials.Off() || c.LaunchTemplate != "" || out.Profile == "" {
		return nil
	}
	subject := dryrun.Subject{Class: c, Profile: out.Profile}
	for _, m := range out.Images {
		subject.Images = append(subject.Images, m.ID)
	}
	for _, g := range out.Groups {
		subject.Groups = append(subject.Groups, g.ID)
	}
	verdict, err := i.Trials.Of(ctx, subject)
	if err != nil {
		return err
	}
	out.Tried = !i.Trials.Off()
	if verdict.Without != "" {
		without := []string{verdict.Without}
		if was := out.Without[awsv1.ConditionValidationSucceeded]; was != "" {
			without = append([]string{was}, without...)
		}
		out.Without[awsv1.ConditionValidationSucceeded] = strings.Join(without, "; ")
	}
	if verdict.Err != nil {
		return verdict.Err
	}
	return nil
}
