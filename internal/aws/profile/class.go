package profile

import (
	"context"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Classes gives the classes of a cluster their profiles.
type Classes struct {
	Store           *Store
	Cluster, Region string
}

// Owner says for which class a profile is made whose role the class names.
func (p Classes) Owner(c nodeclass.Class) Owner {
	return Owner{Cluster: p.Cluster, Region: p.Region, Class: c.Ref.Name, UID: c.UID, Role: c.Role, Tags: c.Tags}
}

// Of returns the instance profile of a class, made if the class names a role.
func (p Classes) Of(ctx context.Context, c nodeclass.Class) (string, error) {
	switch {
	case c.Profile != "":
		return c.Profile, nil
	case c.Role != "":
		return p.Store.Ensure(ctx, p.Owner(c))
	}
	return "", cloud.Errorf(cloud.NotReady, "InstanceProfileNotFound",
		"neither spec.instanceProfile of %s %q nor the setting aws.defaultInstanceProfile names an instance profile: set one", c.Ref.Kind, c.Ref.Name)
}

// Check is Of for a class that is looked at, not launched by: a profile that the class names is looked for as well.
func (p Classes) Check(ctx context.Context, c nodeclass.Class) (string, error) {
	name, err := p.Of(ctx, c)
	if err == nil && c.Profile != "" {
		err = p.Store.named(ctx, c.Profile)
	}
	return name, err
}
