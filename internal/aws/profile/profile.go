// Package profile gives machines the instance profile that carries their role.
package profile

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// fresh is how long a profile that was seen to be right is taken to be so.
const fresh = 15 * time.Minute

// patience is how long a profile that a class names is looked for. In a subnet without a way to IAM nothing ever answers.
const patience = 5 * time.Second

// missingFor is how long a role or a profile that was not there is taken not to be.
const missingFor = time.Minute

// maxProfileDelay is how long EC2 may take to learn of a profile that IAM has made.
const maxProfileDelay = time.Minute

// Owner says for which class a profile is made. The name of the profile follows from
// it, so that a process that forgot what it made finds it again.
type Owner struct {
	Cluster, Region  string
	Class, UID, Role string
	Tags             map[string]string
}

// Name is the profile's name. Another role is another profile, because EC2 may
// still start machines from the old one.
func (o Owner) Name() string {
	h := fnv.New64a()
	for _, part := range []string{o.Region, o.Class, o.UID, o.role()} {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	return fmt.Sprintf("%s_%d", o.Cluster, h.Sum64())
}

// role is the role's name without its path, which profiles do not take.
func (o Owner) role() string { return o.Role[strings.LastIndexByte(o.Role, '/')+1:] }

// Path is where the class' profiles are listed.
func (o Owner) Path() string { return fmt.Sprintf("/karpenter/%s/%s/%s/", o.Region, o.Cluster, o.UID) }

func (o Owner) tags() []iamtypes.Tag {
	all := maps.Clone(o.Tags)
	if all == nil {
		all = map[string]string{}
	}
	all["kubernetes.io/cluster/"+o.Cluster] = "owned"
	all["eks:eks-cluster-name"] = o.Cluster
	all["karpenter.k8s.aws/ec2nodeclass"] = o.Class
	all["topology.kubernetes.io/region"] = o.Region
	out := make([]iamtypes.Tag, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, iamtypes.Tag{Key: aws.String(k), Value: aws.String(all[k])})
	}
	return out
}

// Store is the profiles of this cluster.
type Store struct {
	iam  *iam.Client
	now  clock.Now
	made *answers.Memory[time.Time] // when profiles were made that were seen to be right, by name
	seen *answers.Memory[struct{}]  // profiles of others that were looked for, by name
}

// NewStore returns a Store that has seen no profile yet.
func NewStore(c *iam.Client, now clock.Now) *Store {
	return &Store{
		iam: c, now: now, seen: answers.New(now, answers.Rules[struct{}]{}),
		made: answers.New(now, answers.Rules[time.Time]{Stale: keepUnusedFor - fresh}),
	}
}

// Ensure returns the name of a profile with the owner's role in it, made if it was not there.
func (s *Store) Ensure(ctx context.Context, o Owner) (string, error) {
	name := o.Name()
	if _, err := s.made.Get(ctx, name, func(ctx context.Context) (time.Time, time.Duration, error) { return s.ensure(ctx, o) }); err != nil {
		return "", err
	}
	return name, nil
}

func (s *Store) ensure(ctx context.Context, o Owner) (made time.Time, holds time.Duration, err error) {
	name := o.Name()
	p, err := s.find(ctx, name)
	if err != nil {
		return time.Time{}, 0, err
	}
	if p == nil {
		_, err := s.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: aws.String(name), Path: aws.String(o.Path()), Tags: o.tags(),
		})
		if err != nil && !refusal.Is(err, "EntityAlreadyExists") {
			return time.Time{}, 0, refusal.Wrap("create instance profile "+name, err)
		}
		p = &iamtypes.InstanceProfile{CreateDate: aws.Time(s.now())}
	}
	switch there, err := s.fill(ctx, name, o.role(), p.Roles); {
	case err != nil:
		return time.Time{}, 0, err
	case !there:
		return time.Time{}, missingFor, cloud.Errorf(cloud.NotReady, awsv1.ReasonRoleNotFound, "role %s does not exist: create it, or name another in spec.role", o.role())
	}
	return aws.ToTime(p.CreateDate), fresh, nil
}

// named looks for a profile that a class names. An account that does not say, since IAM cannot be reached
// from the cluster or may not be asked, is no reason to refuse the class: EC2 has the last word.
func (s *Store) named(ctx context.Context, name string) error {
	_, err := s.seen.Get(ctx, name, func(ctx context.Context) (struct{}, time.Duration, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		switch p, err := s.find(ctx, name); {
		case err != nil:
			return struct{}{}, fresh, nil //nolint:nilerr // no answer
		case p == nil:
			return struct{}{}, missingFor, cloud.Errorf(cloud.NotReady, awsv1.ReasonInstanceProfileNotFound, "instance profile %s does not exist: create it, or name another", name)
		}
		return struct{}{}, fresh, nil
	})
	return err
}

// Young reports whether a profile was made so recently that EC2 may not know it yet.
func (s *Store) Young(name string) bool {
	made, known := s.made.Known(name)
	return known && s.now.Since(made) < maxProfileDelay
}

// Roles returns the roles in a profile; false if there is no such profile.
func (s *Store) Roles(ctx context.Context, name string) ([]string, bool, error) {
	p, err := s.find(ctx, name)
	if err != nil || p == nil {
		return nil, false, err
	}
	roles := make([]string, len(p.Roles))
	for i, r := range p.Roles {
		roles[i] = aws.ToString(r.RoleName)
	}
	return roles, true, nil
}

func (s *Store) find(ctx context.Context, name string) (*iamtypes.InstanceProfile, error) {
	out, err := s.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)})
	if refusal.Gone(err) {
		return nil, nil //nolint:nilnil // absence is an answer here
	}
	if refusal.Absent(err) {
		return nil, cloud.Errorf(cloud.NotReady, awsv1.ReasonInstanceProfileNotFound, "profiles cannot be made here: name one in spec.instanceProfile instead of spec.role: %w", err)
	}
	if err != nil {
		return nil, refusal.Wrap("get instance profile "+name, err)
	}
	return out.InstanceProfile, nil
}

// fill leaves just the role in the profile, which holds one at most. It is false if there is no such role.
func (s *Store) fill(ctx context.Context, name, role string, has []iamtypes.Role) (bool, error) {
	for _, r := range has {
		if aws.ToString(r.RoleName) == role {
			return true, nil
		}
		_, err := s.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: aws.String(name), RoleName: r.RoleName})
		if err != nil && !refusal.Gone(err) {
			return false, refusal.Wrap("remove role from instance profile "+name, err)
		}
	}
	_, err := s.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String(name), RoleName: aws.String(role)})
	switch {
	case refusal.Gone(err):
		return false, nil
	case err != nil && !refusal.Is(err, "LimitExceeded"):
		return false, refusal.Wrap(fmt.Sprintf("add role %s to instance profile %s", role, name), err)
	}
	return true, nil
}

// Delete removes every profile under a path, roles first. What is not there is no error.
func (s *Store) Delete(ctx context.Context, path string, keep func(name string) bool) error {
	return s.remove(ctx, path, func(p iamtypes.InstanceProfile) bool { return keep != nil && keep(aws.ToString(p.InstanceProfileName)) })
}

// keepUnusedFor is how long a profile that no class asks for is kept.
const keepUnusedFor = time.Hour

// Collect removes the profiles of a cluster that nothing needs: no class has asked
// for them for a while, and no machine uses them. A Store that has not been asked
// by all classes yet must not collect.
func (s *Store) Collect(ctx context.Context, region, cluster string, used func(name string) bool) error {
	return s.remove(ctx, fmt.Sprintf("/karpenter/%s/%s/", region, cluster), func(p iamtypes.InstanceProfile) bool {
		name := aws.ToString(p.InstanceProfileName)
		_, asked := s.made.Known(name)
		return asked || s.now.Since(aws.ToTime(p.CreateDate)) < keepUnusedFor || used(name)
	})
}

func (s *Store) remove(ctx context.Context, path string, keep func(iamtypes.InstanceProfile) bool) error {
	var errs []error
	pages := iam.NewListInstanceProfilesPaginator(s.iam, &iam.ListInstanceProfilesInput{PathPrefix: aws.String(path)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return refusal.Wrap("list instance profiles below "+path, err)
		}
		for _, p := range page.InstanceProfiles {
			if !strings.HasPrefix(aws.ToString(p.Path), path) {
				continue // a server may pass over the prefix, and these are deleted
			}
			if !keep(p) {
				errs = append(errs, s.delete(ctx, aws.ToString(p.InstanceProfileName), p.Roles))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Store) delete(ctx context.Context, name string, roles []iamtypes.Role) error {
	for _, r := range roles {
		_, err := s.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: aws.String(name), RoleName: r.RoleName})
		if err != nil && !refusal.Gone(err) {
			return refusal.Wrap("remove role from instance profile "+name, err)
		}
	}
	_, err := s.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String(name)})
	if err != nil && !refusal.Gone(err) {
		return refusal.Wrap("delete instance profile "+name, err)
	}
	s.made.Forget(name)
	return nil
}
