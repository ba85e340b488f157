package awsapi

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// iamOps is every IAM action the account serves.
func iamOps() map[string]queryOp {
	return map[string]queryOp{
		"AddRoleToInstanceProfile":      addRoleToInstanceProfile,
		"AttachRolePolicy":              attachRolePolicy,
		"CreateInstanceProfile":         createInstanceProfile,
		"CreatePolicy":                  createPolicy,
		"CreateServiceLinkedRole":       createServiceLinkedRole,
		"DeleteInstanceProfile":         deleteInstanceProfile,
		"DeletePolicy":                  deletePolicy,
		"DeleteRole":                    deleteRole,
		"DetachRolePolicy":              detachRolePolicy,
		"GetInstanceProfile":            getInstanceProfile,
		"GetPolicy":                     getPolicy,
		"GetRole":                       getRole,
		"ListAttachedRolePolicies":      listAttachedRolePolicies,
		"ListInstanceProfiles":          listInstanceProfiles,
		"ListRoles":                     listRoles,
		"RemoveRoleFromInstanceProfile": removeRoleFromInstanceProfile,
		"TagInstanceProfile":            tagInstanceProfile,
		"UntagInstanceProfile":          untagInstanceProfile,
	}
}

// profileInput is what the instance-profile actions take.
type profileInput struct {
	InstanceProfileName string
	Path                string
	RoleName            string
	Tags                []tag
	TagKeys             []string
}

func (in *profileInput) read(c *call) error {
	if err := c.decode(in); err != nil {
		return err
	}
	if in.InstanceProfileName == "" {
		return market.Errorf("ValidationError", "1 validation error detected: Value null at 'instanceProfileName' failed to satisfy constraint: Member must not be null")
	}
	return nil
}

func getInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	p, err := c.market.Profile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	return []node{el("InstanceProfile", profileNodes(c, p)...)}, nil
}

func createInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	if len(in.InstanceProfileName) > 128 {
		return nil, market.Errorf("ValidationError", "1 validation error detected: Value '%s' at 'instanceProfileName' failed to satisfy constraint: "+
			"Member must have length less than or equal to 128", in.InstanceProfileName)
	}
	p, err := c.market.CreateProfile(in.InstanceProfileName, in.Path, tagsOf(in.Tags))
	if err != nil {
		return nil, err
	}
	return []node{el("InstanceProfile", profileNodes(c, p)...)}, nil
}

func deleteInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	return nil, c.market.DeleteProfile(in.InstanceProfileName)
}

func addRoleToInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	return nil, c.market.AddRoleToProfile(in.InstanceProfileName, in.RoleName)
}

func removeRoleFromInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	return nil, c.market.RemoveRoleFromProfile(in.InstanceProfileName, in.RoleName)
}

func tagInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	return nil, c.market.TagProfile(in.InstanceProfileName, tagsOf(in.Tags))
}

func untagInstanceProfile(c *call) ([]node, error) {
	var in profileInput
	if err := in.read(c); err != nil {
		return nil, err
	}
	return nil, c.market.UntagProfile(in.InstanceProfileName, in.TagKeys)
}

func listInstanceProfiles(c *call) ([]node, error) {
	var in struct {
		PathPrefix string
		Marker     string
		MaxItems   int
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	page, next, err := cut(c.market.Profiles(in.PathPrefix), pages{least: 1, most: 1000, usual: 100}, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return []node{
		members("InstanceProfiles", page, func(p market.Profile) []node {
			p.Tags = nil // as IAM: listing does not return the tags
			return profileNodes(c, p)
		}),
		flag("IsTruncated", next != ""), txt("Marker", next),
	}, nil
}

func profileNodes(c *call, p market.Profile) []node {
	return []node{
		txt("InstanceProfileName", p.Name), txt("InstanceProfileId", p.ID), txt("Arn", p.ARN), txt("Path", p.Path),
		txt("CreateDate", p.Created.UTC().Format(time.RFC3339)),
		members("Roles", c.market.ProfileRoles(p), roleNodes),
		members("Tags", slices.Sorted(maps.Keys(p.Tags)), func(k string) []node {
			return []node{txt("Key", k), {name: "Value", text: p.Tags[k], keep: true}}
		}),
	}
}

func roleNodes(r market.Role) []node {
	return []node{
		txt("Path", r.Path), txt("RoleName", r.Name), txt("RoleId", r.ID), txt("Arn", r.ARN), txt("CreateDate", r.Created.UTC().Format(time.RFC3339)),
		txt("AssumeRolePolicyDocument", r.Trust),
	}
}

// roleInput is what the actions on roles and policies take.
type roleInput struct {
	RoleName       string
	PolicyArn      string
	PolicyName     string
	PolicyDocument string
	AWSServiceName string
	Description    string
	Path           string
	PathPrefix     string
	Marker         string
	MaxItems       int
}

func getRole(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	r, err := c.market.Role(in.RoleName)
	if err != nil {
		return nil, err
	}
	return []node{el("Role", roleNodes(r)...)}, nil
}

func listRoles(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	page, next, err := cut(c.market.Roles(in.PathPrefix), pages{least: 1, most: 1000, usual: 100}, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return []node{members("Roles", page, roleNodes), flag("IsTruncated", next != ""), txt("Marker", next)}, nil
}

func deleteRole(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return nil, c.market.DeleteRole(in.RoleName)
}

func attachRolePolicy(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return nil, c.market.AttachPolicy(in.RoleName, in.PolicyArn)
}

func detachRolePolicy(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return nil, c.market.DetachPolicy(in.RoleName, in.PolicyArn)
}

func listAttachedRolePolicies(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	r, err := c.market.Role(in.RoleName)
	if err != nil {
		return nil, err
	}
	return []node{
		members("AttachedPolicies", r.Policies, func(arn string) []node {
			return []node{txt("PolicyName", arn[strings.LastIndex(arn, "/")+1:]), txt("PolicyArn", arn)}
		}),
		flag("IsTruncated", false),
	}, nil
}

func createPolicy(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	p, err := c.market.CreatePolicy(in.PolicyName, in.Path)
	if err != nil {
		return nil, err
	}
	return []node{el("Policy", policyNodes(p, 0)...)}, nil
}

func getPolicy(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.PolicyArn, "arn:") {
		return nil, market.Errorf("InvalidInput", "ARN %s is not valid.", in.PolicyArn)
	}
	p, roles, err := c.market.Policy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	return []node{el("Policy", policyNodes(p, roles)...)}, nil
}

func policyNodes(p market.Policy, roles int) []node {
	made := p.Created.UTC().Format(time.RFC3339)
	return []node{
		txt("PolicyName", p.Name), txt("PolicyId", p.ID), txt("Arn", p.ARN), txt("Path", p.Path), txt("DefaultVersionId", "v1"),
		num("AttachmentCount", roles), num("PermissionsBoundaryUsageCount", 0), flag("IsAttachable", true), txt("CreateDate", made), txt("UpdateDate", made),
	}
}

func deletePolicy(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return nil, c.market.DeletePolicy(in.PolicyArn)
}

func createServiceLinkedRole(c *call) ([]node, error) {
	var in roleInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	const name = "AWSServiceRoleForEC2Spot"
	if in.AWSServiceName != "spot.amazonaws.com" {
		return nil, market.Errorf("InvalidInput", "Service role name for %s is not known here", in.AWSServiceName)
	}
	if _, err := c.market.Role(name); err == nil {
		return nil, market.Errorf("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", name)
	}
	r := c.market.AddRole(market.Role{Name: name, Path: "/aws-service-role/spot.amazonaws.com/"})
	c.market.ForbidSpotRole(false)
	return []node{el("Role", roleNodes(r)...)}, nil
}
