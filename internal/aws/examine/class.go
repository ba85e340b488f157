package examine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// fewAddresses is how many free addresses of a subnet are worth a warning: a
// common machine takes about so many.
const fewAddresses = 32

// Class finds what would keep machines of a class from being launched. Nothing of it lasts.
func (e *Examiner) Class(ctx context.Context, ref cloud.ClassRef) []Finding {
	var f findings
	c, err := e.Selection.Classes(ctx, ref)
	if err != nil {
		f.failed("class", err)
		return f
	}
	e.examineSubnets(ctx, c, &f)
	if c.LaunchTemplate != "" {
		f.unclear("launch template", "%s is the user's own: images, groups and profile are in it and are not looked at", c.LaunchTemplate)
		return f
	}
	e.examineGroups(ctx, c, &f)
	e.examinePlacement(ctx, c, &f)
	profile := e.examineProfile(ctx, c, &f)
	cluster, version, err := e.Selection.Cluster.Find(ctx)
	switch {
	case refusal.Gone(err):
		f.bad("cluster", nameCluster, "%v", err)
		return f
	case err != nil:
		f.failed("cluster", err)
		return f
	}
	f.good("cluster", "%s runs Kubernetes %s", e.Cluster, version)
	images := e.examineImages(ctx, c, version, &f)
	if e.examineSettings(c, cluster, &f) && images {
		e.examineStart(ctx, c, profile, &f)
	}
	return f
}

func (e *Examiner) examineSubnets(ctx context.Context, c nodeclass.Class, f *findings) {
	const check = "subnets"
	found, err := e.Selection.SubnetsOf(ctx, c)
	if err != nil {
		f.failed(check, err)
		return
	}
	var names []string
	for _, s := range found {
		names = append(names, fmt.Sprintf("%s in %s (%d addresses free)", s.ID, s.Zone, s.Free))
		if s.Free < fewAddresses {
			f.warn(check, "free addresses there, or add a subnet in that zone", "%s in %s has %d addresses left", s.ID, s.Zone, s.Free)
		}
	}
	f.good(check, "%s", strings.Join(names, ", "))
	if zones := selection.ZonesOf(found); len(zones) == 1 {
		f.warn(check, "select subnets in several zones", "all are in %s: what is sold out there cannot be had elsewhere", zones[0])
	}
}

func (e *Examiner) examineGroups(ctx context.Context, c nodeclass.Class, f *findings) {
	const check = "security groups"
	found, err := e.Selection.GroupsOf(ctx, c)
	if err != nil {
		f.failed(check, err)
		return
	}
	var names, owned []string
	for _, g := range found {
		names = append(names, fmt.Sprintf("%s (%s)", g.ID, g.Name))
		if slices.Contains(g.Tags, machine.Owned(e.Cluster)) {
			owned = append(owned, g.ID)
		}
	}
	f.good(check, "%s", strings.Join(names, ", "))
	if len(owned) > 1 {
		f.warn(check, "leave the tag "+machine.Owned(e.Cluster)+" on one of them",
			"%s are all tagged as the cluster's own; load balancer controllers want exactly one on a machine", strings.Join(owned, ", "))
	}
	subnets, err := e.Selection.SubnetsOf(ctx, c)
	if err == nil && len(subnets) > 0 && slices.ContainsFunc(found, func(g network.Group) bool { return g.VPC != subnets[0].VPC }) {
		f.bad(check, "select groups of "+subnets[0].VPC, "some are of another VPC than the subnets, which are in %s", subnets[0].VPC)
	}
}

func (e *Examiner) examineImages(ctx context.Context, c nodeclass.Class, version string, f *findings) bool {
	const check = "images"
	found, err := e.Selection.Images.Find(ctx, c, version)
	if err != nil {
		f.failed(check, err)
		return false
	}
	var names []string
	for _, i := range found {
		names = append(names, fmt.Sprintf("%s (%s)", i.ID, i.Name))
		if i.Deprecated {
			f.warn(check, "select a newer image", "%s (%s) is deprecated", i.ID, i.Name)
		}
	}
	f.good(check, "%s", strings.Join(names, ", "))
	return true
}

func (e *Examiner) examinePlacement(ctx context.Context, c nodeclass.Class, f *findings) {
	const check = "placement group"
	if c.PlacementGroup == nil {
		return
	}
	g, err := e.Selection.PlacementOf(ctx, c)
	if err != nil {
		f.failed(check, err)
		return
	}
	f.good(check, "%s places by the strategy %s", g.ID, g.Strategy)
	if g.Strategy == "spread" {
		f.warn(check, "use a partition group for more", "a spread group holds seven running machines in each zone")
	}
}

// examineProfile returns the profile that machines would start with, if it is there.
func (e *Examiner) examineProfile(ctx context.Context, c nodeclass.Class, f *findings) string {
	const check = "instance profile"
	name := c.Profile
	if name == "" && c.Role == "" {
		_, err := e.Profiles.Of(ctx, c)
		f.bad(check, "name one; where the controller has that setting, give it here, too: --default-instance-profile (AWS_DEFAULT_INSTANCE_PROFILE)", "%v", err)
		return ""
	}
	if name == "" {
		name = e.Profiles.Owner(c).Name()
	}
	roles, there, err := e.Profiles.Store.Roles(ctx, name)
	switch {
	case err != nil:
		f.failed(check, err)
	case !there && c.Profile == "":
		f.unclear(check, "%s with role %s will be made with the first machine; whether the role exists shows then", name, c.Role)
	case !there:
		f.bad(check, "create it with the nodes' role in it, or name a role in the class", "%s does not exist", name)
	case len(roles) == 0 && c.Profile != "":
		f.bad(check, "add the nodes' role to it", "%s holds no role", name)
	case len(roles) == 0:
		f.bad(check, "create role "+c.Role+", or correct spec.role", "%s holds no role: %s could not be put in", name, c.Role)
	default:
		f.good(check, "%s holds %s", name, strings.Join(roles, ", "))
		return name
	}
	return ""
}

// examineSettings checks what can be checked without AWS.
func (e *Examiner) examineSettings(c nodeclass.Class, cluster bootstrap.Cluster, f *findings) bool {
	k, err := kubelet.Parse(c.Kubelet)
	if err == nil {
		_, err = e.Selection.Computed(c, k)
	}
	if err != nil {
		f.bad("kubelet settings", "correct spec.kubelet", "%v", err)
		return false
	}
	_, err = bootstrap.UserData(bootstrap.Node{Family: c.Family, Legacy: c.Legacy, Cluster: cluster, Kubelet: k, RAID0: c.RAID0, Own: c.UserData})
	if err != nil {
		f.bad("user data", "correct spec.userData", "%v", err)
		return false
	}
	f.good("user data", "can be merged with what family %s needs", c.Family)
	return true
}

// examineStart has EC2 say whether a machine of the class could be started now,
// without starting it. This covers permissions, the profile's role, the image and quotas.
func (e *Examiner) examineStart(ctx context.Context, c nodeclass.Class, profile string, f *findings) {
	s, err := e.Launcher.Single(ctx, c)
	if err != nil {
		if e, ok := errors.AsType[*cloud.Error](err); ok && e.Reason == "NoInstanceTypes" {
			f.failed("instance types", err)
		}
		return // said before, by the part that is wrong
	}
	f.good("instance types", "%d can be had", s.Types)
	switch {
	case e.Trials.Off():
		f.unclear("start a machine", "dry runs are off")
		return
	case !s.Found:
		f.warn("start a machine", "select subnets in more zones, or wait", "everything that the class allows is sold out or shifted away from now")
		return
	case profile == "":
		return
	}
	in, err := s.Requests(profile)
	if err != nil {
		f.failed("start a machine", err)
		return
	}
	for _, a := range e.Trials.Rehearse(ctx, in) {
		f.rehearsed(a.Check, in.What, a.Err)
	}
}
