// Package class says in the status of EC2NodeClasses and AWSNodeTemplates what they select and what is wrong with them.
package class

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/condition"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Found is what a class selects. What is broken is named by its condition.
type Found struct {
	Hash    string
	Subnets []awsv1.Subnet
	Groups  []awsv1.SecurityGroup
	Images  []awsv1.AMI
	Profile string

	Reservations []awsv1.CapacityReservation

	Expressions bool // kubelet settings may have them

	Tried   bool              // the cloud was asked, by dry runs, whether it would launch
	Shifted []string          // ids of zones that the cluster's traffic is shifted away from
	Without map[string]string // what a condition that holds does without
	Broken  map[string]*cloud.Error
}

// parts are the conditions that what was found decides.
func parts() []string {
	return []string{
		awsv1.ConditionSubnetsReady, awsv1.ConditionSecurityGroupsReady, awsv1.ConditionAMIsReady,
		awsv1.ConditionPlacementGroupReady, awsv1.ConditionInstanceProfileReady,
		awsv1.ConditionCapacityReservationsReady,
	}
}

// Status writes into a class what was found of it.
func Status(o *awsv1.EC2NodeClass, f Found, now time.Time) {
	o.Status.Subnets, o.Status.SecurityGroups, o.Status.AMIs, o.Status.InstanceProfile = f.Subnets, f.Groups, f.Images, f.Profile
	o.Status.CapacityReservations = f.Reservations
	o.Conditions(true).Together(func() { conditions(o, f, now) })
}

func conditions(o *awsv1.EC2NodeClass, f Found, now time.Time) {
	c := o.Conditions(true)
	c.Init(now)
	for _, part := range parts() {
		if e := f.Broken[part]; e != nil {
			c.False(part, reasonOf(e, part), short(e.Error()), now)
		} else {
			c.True(part, "", short(f.Without[part]), now)
		}
	}
	validation(o, f, c, now)
}

// validation says whether machines of the class could be launched: what can be
// seen of the class itself first, then what EC2 said.
func validation(o *awsv1.EC2NodeClass, f Found, c condition.View, now time.Time) {
	const part = awsv1.ConditionValidationSucceeded
	e := f.Broken[part]
	reason, message := o.Problem(f.Expressions)
	switch {
	case reason != "":
		c.False(part, reason, short(message), now)
	case e != nil:
		c.False(part, reasonOf(e, part), short(e.Error()), now)
	case len(f.Broken) > 0:
		c.False(part, awsv1.ReasonDependenciesNotReady, "other conditions of the class come first", now)
	case f.Tried:
		c.True(part, "", short(f.Without[part]), now)
	default:
		known := "what can be known without asking EC2 to launch is in order"
		if without := f.Without[part]; without != "" {
			known += ", but " + without
		}
		c.True(part, awsv1.ReasonDryRunDisabled, short(known), now)
	}
}

// reasonOf is a reason that the condition's schema takes.
func reasonOf(e *cloud.Error, part string) string {
	if e.Reason != "" {
		return e.Reason
	}
	return strings.TrimSuffix(part, "Ready") + "NotFound"
}

// StatusOfTemplate writes into a template what was found of it. A condition is
// there only while something is wrong.
func StatusOfTemplate(o *awsv1alpha1.AWSNodeTemplate, f Found, now time.Time) {
	o.Status.Subnets, o.Status.SecurityGroups = nil, nil
	for _, s := range f.Subnets {
		o.Status.Subnets = append(o.Status.Subnets, awsv1alpha1.Subnet{ID: s.ID, Zone: s.Zone})
	}
	for _, g := range f.Groups {
		o.Status.SecurityGroups = append(o.Status.SecurityGroups, awsv1alpha1.SecurityGroup{ID: g.ID})
	}
	var reason string
	var wrong []string
	if l := o.Problems(); len(l) > 0 {
		reason = "Invalid"
		wrong = append(wrong, l.ToAggregate().Error())
	}
	for _, part := range parts() {
		if e := f.Broken[part]; e != nil {
			if reason == "" {
				reason = reasonOf(e, part)
			}
			wrong = append(wrong, e.Error())
		}
	}
	if len(wrong) == 0 {
		o.Status.Conditions = nil
		return
	}
	next := metav1.Condition{
		Type: condition.Ready, Status: metav1.ConditionFalse, Reason: reason, Message: short(strings.Join(wrong, "; ")),
		ObservedGeneration: o.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	}
	if len(o.Status.Conditions) == 1 {
		next.LastTransitionTime = o.Status.Conditions[0].LastTransitionTime
	}
	o.Status.Conditions = []metav1.Condition{next}
}

// short cuts a message to what a condition shows.
func short(s string) string {
	const maxMessageBytes = 1024
	if len(s) > maxMessageBytes {
		return s[:maxMessageBytes] + "..."
	}
	return s
}
