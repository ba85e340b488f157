package nodeclass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/digest"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// FromTemplate reads an AWSNodeTemplate. profile is used where it names none.
func FromTemplate(o *v1alpha1.AWSNodeTemplate, profile string) Class {
	c := fromProvider(&o.Spec.Provider, profile)
	c.Ref, c.UID = cloud.ClassRef{Group: v1alpha1.Group, Kind: "AWSNodeTemplate", Name: o.Name}, string(o.UID)
	c.Generation = o.Generation
	c.UserData, c.Monitoring = value(o.Spec.UserData), value(o.Spec.DetailedMonitoring)
	if len(o.Spec.AMISelector) > 0 {
		c.Images = []ImageSelector{legacyImages(o.Spec.AMISelector)}
	}
	c.Hash, c.HashVersion = digest.Of(o.Spec), digest.Version
	return c
}

// FromProvisioner reads the settings that a Provisioner holds itself. It is then its own class.
func FromProvisioner(o *v1alpha5.Provisioner, profile string) (Class, error) {
	if o.Spec.Provider == nil {
		return Class{}, fmt.Errorf("provisioner %q holds no provider settings", o.Name)
	}
	p, err := v1alpha1.ParseProvider(o.Spec.Provider.Raw)
	if err != nil {
		return Class{}, fmt.Errorf("provisioner %q: %w", o.Name, err)
	}
	c := fromProvider(p, profile)
	c.Ref, c.UID = cloud.ClassRef{Group: v1alpha5.Group, Kind: "Provisioner", Name: o.Name}, string(o.UID)
	c.Generation = o.Generation
	c.Hash, c.HashVersion = digest.Of(*p), digest.Version
	return c, nil
}

func fromProvider(p *v1alpha1.Provider, profile string) Class {
	c := Class{
		Legacy: true, Family: p.Family(), LaunchTemplate: value(p.LaunchTemplate), Tags: p.Tags, Context: value(p.Context),
		Subnets: []Selector{legacySelector(p.SubnetSelector)}, Metadata: metadataLegacy(p.MetadataOptions),
	}
	if c.LaunchTemplate != "" {
		return c
	}
	c.Profile = cmp.Or(value(p.InstanceProfile), profile)
	if len(p.SecurityGroupSelector) > 0 {
		c.Groups = []Selector{legacySelector(p.SecurityGroupSelector)}
	}
	for _, m := range p.BlockDeviceMappings {
		if m != nil {
			c.Disks = append(c.Disks, diskLegacy(m))
		}
	}
	if c.Family != v1alpha1.FamilyCustom {
		c.Images = []ImageSelector{{Alias: strings.ToLower(c.Family) + "@latest"}}
	}
	return c
}

func metadataLegacy(o *v1alpha1.MetadataOptions) Metadata {
	if o == nil {
		return Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 2}
	}
	return Metadata{
		Endpoint: value(o.HTTPEndpoint), IPv6: value(o.HTTPProtocolIPv6),
		Tokens: value(o.HTTPTokens), HopLimit: value(o.HTTPPutResponseHopLimit),
	}
}

func diskLegacy(m *v1alpha1.BlockDeviceMapping) Disk {
	d := Disk{Device: value(m.DeviceName)}
	if e := m.EBS; e != nil {
		d.SizeGiB, d.Type, d.IOPS, d.Throughput = gib(e.VolumeSize), value(e.VolumeType), e.IOPS, e.Throughput
		d.Snapshot, d.KMSKey = value(e.SnapshotID), value(e.KMSKeyID)
		d.Encrypted, d.DeleteAtEnd = e.Encrypted, e.DeleteOnTermination
	}
	return d
}

// legacySelector reads a selector of the old form: tags whose values may be
// several, separated by commas, and ids under a key of their own.
func legacySelector(m map[string]string) Selector {
	var s Selector
	for k, v := range m {
		switch {
		case k == v1alpha1.SelectorIDs || k == v1alpha1.SelectorIDsLater:
			s.IDs = append(s.IDs, commas(v)...)
		case v == "*":
			s.Tags = append(s.Tags, Tag{Key: k})
		default:
			s.Tags = append(s.Tags, Tag{Key: k, Values: commas(v)})
		}
	}
	slices.SortFunc(s.Tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	slices.Sort(s.IDs)
	return s
}

// legacyImages reads a selector of images of the old form. There a tag has
// exactly one value, and an asterisk is just that.
func legacyImages(m map[string]string) ImageSelector {
	s := ImageSelector{Legacy: true}
	for k, v := range m {
		switch k {
		case v1alpha1.SelectorIDs, v1alpha1.SelectorIDsLater:
			s.IDs = append(s.IDs, commas(v)...)
		case v1alpha1.SelectorAMIName:
			s.Name = v
		case v1alpha1.SelectorAMIOwners:
			s.Owners = commas(v)
		default:
			s.Tags = append(s.Tags, Tag{Key: k, Values: []string{v}})
		}
	}
	slices.SortFunc(s.Tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	slices.Sort(s.IDs)
	return s
}

func commas(v string) []string {
	var out []string
	for p := range strings.SplitSeq(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}
