package market

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Role is an IAM role.
type Role struct {
	Name     string
	ID       string
	ARN      string
	Path     string
	Created  time.Time
	Trust    string   // the assume-role policy document
	Policies []string // ARNs of the attached policies
	Tags     Tags
}

// Policy is an IAM policy that roles can have. What it allows is not kept.
type Policy struct {
	Name    string
	ID      string
	ARN     string
	Path    string
	Created time.Time
}

// Profile is an instance profile: what carries a role onto a machine.
type Profile struct {
	Name    string
	ID      string
	ARN     string
	Path    string
	Created time.Time
	Roles   []string
	Tags    Tags
}

// Partition returns the partition of the region: aws, aws-cn, aws-us-gov.
func (m *Market) Partition() string {
	switch {
	case strings.HasPrefix(m.cfg.Region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(m.cfg.Region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

// IAMARN names an IAM resource, as "role/name" or "policy/name".
func (m *Market) IAMARN(resource string) string {
	return "arn:" + m.Partition() + ":iam::" + m.cfg.Account + ":" + resource
}

// iamID makes an id as IAM's are. The market is locked.
func (m *Market) iamID(prefix string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(m.uuid(prefix), "-", ""))[:17]
}

// AddRole makes a role, or replaces it.
func (m *Market) AddRole(r Role) Role {
	defer m.lock()()
	r.Path = cmp.Or(r.Path, "/")
	r.ARN = m.IAMARN("role" + r.Path + r.Name)
	r.ID, r.Created = m.iamID("AROA"), m.at
	for _, p := range r.Policies {
		m.addPolicy(p)
	}
	m.roles[r.Name] = &r
	return r
}

// Role returns one role.
func (m *Market) Role(name string) (Role, error) {
	defer m.lock()()
	r, err := m.role(name)
	if err != nil {
		return Role{}, err
	}
	out := *r
	out.Policies = slices.Clone(r.Policies)
	return out, nil
}

// Roles returns the roles under a path, by name.
func (m *Market) Roles(prefix string) []Role {
	defer m.lock()()
	return slices.DeleteFunc(sorted(m.roles), func(r Role) bool { return !strings.HasPrefix(r.Path, cmp.Or(prefix, "/")) })
}

func (m *Market) role(name string) (*Role, error) {
	r, ok := m.roles[name]
	if !ok {
		return nil, Errorf(NoSuchEntity, "The role with name %s cannot be found.", name)
	}
	return r, nil
}

// DeleteRole removes a role that nothing uses.
func (m *Market) DeleteRole(name string) error {
	defer m.lock()()
	r, err := m.role(name)
	if err != nil {
		return err
	}
	if len(r.Policies) > 0 {
		return Errorf(DeleteConflict, "Cannot delete entity, must detach all policies first.")
	}
	for _, p := range m.profiles {
		if slices.Contains(p.Roles, name) {
			return Errorf(DeleteConflict, "Cannot delete entity, must remove roles from instance profile first.")
		}
	}
	delete(m.roles, name)
	return nil
}

// AttachPolicy gives a role a policy, which comes to exist if it did not.
func (m *Market) AttachPolicy(role, arn string) error {
	defer m.lock()()
	r, err := m.role(role)
	if err != nil {
		return err
	}
	m.addPolicy(arn)
	if !slices.Contains(r.Policies, arn) {
		r.Policies = append(r.Policies, arn)
	}
	return nil
}

// DetachPolicy takes a policy from a role.
func (m *Market) DetachPolicy(role, arn string) error {
	defer m.lock()()
	r, err := m.role(role)
	if err != nil {
		return err
	}
	if !slices.Contains(r.Policies, arn) {
		return Errorf(NoSuchEntity, "Policy %s was not found.", arn)
	}
	r.Policies = slices.DeleteFunc(r.Policies, func(p string) bool { return p == arn })
	return nil
}

// addPolicy makes sure that there is the policy of an ARN, and returns it. The market is locked.
func (m *Market) addPolicy(arn string) *Policy {
	if p := m.policies[arn]; p != nil {
		return p
	}
	_, path, _ := strings.Cut(arn, ":policy")
	end := strings.LastIndex(path, "/") + 1
	p := &Policy{Name: path[end:], ID: m.iamID("ANPA"), ARN: arn, Path: cmp.Or(path[:end], "/"), Created: m.at}
	m.policies[arn] = p
	return p
}

// CreatePolicy makes a policy.
func (m *Market) CreatePolicy(name, path string) (Policy, error) {
	defer m.lock()()
	arn := m.IAMARN("policy" + cmp.Or(path, "/") + name)
	for _, p := range m.policies { // a name is taken under every path
		if p.Name == name && strings.HasPrefix(p.ARN, m.IAMARN("policy/")) {
			return Policy{}, Errorf(EntityAlreadyExists, "A policy called %s already exists. Duplicate names are not allowed.", name)
		}
	}
	return *m.addPolicy(arn), nil
}

// Policy returns one policy, and how many roles have it.
func (m *Market) Policy(arn string) (Policy, int, error) {
	defer m.lock()()
	p := m.policies[arn]
	if p == nil {
		return Policy{}, 0, Errorf(NoSuchEntity, "Policy %s was not found.", arn)
	}
	n := 0
	for _, r := range m.roles {
		if slices.Contains(r.Policies, arn) {
			n++
		}
	}
	return *p, n, nil
}

// DeletePolicy removes a policy that is attached to nothing.
func (m *Market) DeletePolicy(arn string) error {
	defer m.lock()()
	if m.policies[arn] == nil {
		return Errorf(NoSuchEntity, "Policy %s does not exist or is not attachable.", arn)
	}
	for _, r := range m.roles {
		if slices.Contains(r.Policies, arn) {
			return Errorf(DeleteConflict, "Cannot delete a policy attached to entities.")
		}
	}
	delete(m.policies, arn)
	return nil
}

// Allowed reports whether a role may do anything at all: it exists and has a policy.
func (m *Market) Allowed(role string) bool {
	defer m.lock()()
	r, ok := m.roles[role]
	return ok && len(r.Policies) > 0
}

// CreateProfile makes an instance profile without a role.
func (m *Market) CreateProfile(name, path string, tags Tags) (Profile, error) {
	defer m.lock()()
	if _, ok := m.profiles[name]; ok {
		return Profile{}, Errorf(EntityAlreadyExists, "Instance Profile %s already exists.", name)
	}
	path = cmp.Or(path, "/")
	p := &Profile{
		Name: name, Path: path, ID: m.iamID("AIPA"), ARN: m.IAMARN("instance-profile" + path + name), Created: m.at, Tags: maps.Clone(tags),
	}
	m.profiles[name] = p
	return p.clone(), nil
}

// Profile returns one instance profile.
func (m *Market) Profile(name string) (Profile, error) {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return Profile{}, err
	}
	return p.clone(), nil
}

// Profiles returns the instance profiles under a path, by name.
func (m *Market) Profiles(prefix string) []Profile {
	defer m.lock()()
	var out []Profile
	for _, p := range sorted(m.profiles) {
		if strings.HasPrefix(p.Path, cmp.Or(prefix, "/")) {
			out = append(out, p.clone())
		}
	}
	return out
}

func (m *Market) profile(name string) (*Profile, error) {
	p, ok := m.profiles[name]
	if !ok {
		return nil, Errorf(NoSuchEntity, "Instance Profile %s cannot be found.", name)
	}
	return p, nil
}

// DeleteProfile removes an instance profile without a role.
func (m *Market) DeleteProfile(name string) error {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return err
	}
	if len(p.Roles) > 0 {
		return Errorf(DeleteConflict, "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(m.profiles, name)
	return nil
}

// AddRoleToProfile puts a role into a profile, which holds one at most.
func (m *Market) AddRoleToProfile(name, role string) error {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return err
	}
	if _, err := m.role(role); err != nil {
		return err
	}
	if len(p.Roles) > 0 {
		return Errorf(LimitExceeded, "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.Roles = append(p.Roles, role)
	return nil
}

// RemoveRoleFromProfile takes a role out of a profile.
func (m *Market) RemoveRoleFromProfile(name, role string) error {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return err
	}
	if !slices.Contains(p.Roles, role) {
		return Errorf(NoSuchEntity, "The role with name %s cannot be found.", role)
	}
	p.Roles = nil
	return nil
}

// TagProfile adds tags to an instance profile.
func (m *Market) TagProfile(name string, tags Tags) error {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return err
	}
	if p.Tags == nil {
		p.Tags = Tags{}
	}
	maps.Copy(p.Tags, tags)
	return nil
}

// UntagProfile removes tags from an instance profile.
func (m *Market) UntagProfile(name string, keys []string) error {
	defer m.lock()()
	p, err := m.profile(name)
	if err != nil {
		return err
	}
	for _, k := range keys {
		delete(p.Tags, k)
	}
	return nil
}

// ProfileRoles returns the roles of a profile that still exist.
func (m *Market) ProfileRoles(p Profile) []Role {
	defer m.lock()()
	var out []Role
	for _, name := range p.Roles {
		if r, ok := m.roles[name]; ok {
			out = append(out, *r)
		}
	}
	return out
}

func (p *Profile) clone() Profile {
	out := *p
	out.Roles = slices.Clone(p.Roles)
	out.Tags = maps.Clone(p.Tags)
	return out
}
