// Package drift says what of a machine is no longer what its template asks for.
package drift

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/aws/ami"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// BornWith is the annotation of a claim whose machine came with other security
// groups than were asked for: they are no drift, or it would be replaced by its like for ever.
const BornWith = "tenon.sh/born-with-security-groups"

// Of says why a machine is no longer what its template asks for: the class
// has changed, or the image, the subnet or the groups would be others today. Of a
// class only a hash is kept, so it does not say which field.
func Of(m cloud.Machine, s selection.Selection) cloud.Drifted {
	c := s.Class
	if was := m.Annotations[c.HashAnnotation()]; was != "" && m.Annotations[c.HashAnnotation()+"-version"] == c.HashVersion && was != c.Hash {
		return drifted("NodeClassDrift", "the spec of %s %s has changed since the machine was bought (of what it was only a hash is kept)", c.Ref.Kind, c.Ref.Name)
	}
	if c.LaunchTemplate != "" {
		return cloud.Drifted{}
	}
	if m.Image != "" && !slices.ContainsFunc(s.Images, func(i ami.Image) bool { return i.ID == m.Image }) {
		return differs("AMIDrift", "image "+m.Image, len(s.Images), func(i int) string { return s.Images[i].ID })
	}
	if m.Subnet != "" && !slices.ContainsFunc(s.Subnets, func(n network.Subnet) bool { return n.ID == m.Subnet }) {
		return differs("SubnetDrift", "subnet "+m.Subnet, len(s.Subnets), func(i int) string { return s.Subnets[i].ID })
	}
	if groups := s.GroupIDs(); len(m.Groups) > 0 && !slices.Equal(m.Groups, groups) && m.Annotations[BornWith] != strings.Join(m.Groups, ",") {
		return differs("SecurityGroupDrift", "security groups "+strings.Join(m.Groups, ","), len(groups), func(i int) string { return groups[i] })
	}
	if m.Placement != s.Placement.ID {
		return drifted("PlacementGroupDrift", "placement group %s, and the class has %s", cmp.Or(m.Placement, "none"), cmp.Or(s.Placement.ID, "none"))
	}
	if m.Reservation != "" && !slices.ContainsFunc(s.Reservations, func(r reserve.Reservation) bool { return r.ID == m.Reservation }) && !s.Unread {
		return drifted("CapacityReservationDrift", "capacity reservation %s is none of those that the class selects", m.Reservation)
	}
	return cloud.Drifted{}
}

func drifted(reason, format string, args ...any) cloud.Drifted {
	return cloud.Drifted{Reason: reason, Changed: fmt.Sprintf(format, args...)}
}

// differs says what a machine has, and what its class selects today.
func differs(reason, has string, n int, id func(int) string) cloud.Drifted {
	const maxNamed = 4
	var ids []string
	for i := range min(n, maxNamed) {
		ids = append(ids, id(i))
	}
	text := fmt.Sprintf("%s, and the class selects %s", has, cmp.Or(strings.Join(ids, ","), "none"))
	if more := n - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return cloud.Drifted{Reason: reason, Changed: text}
}
