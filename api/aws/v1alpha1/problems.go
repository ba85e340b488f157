package v1alpha1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Problems returns what is wrong with the template. The CRD refuses it when it is written; a webhook and the status say
// it for objects that came past an older CRD.
func (t *AWSNodeTemplate) Problems() field.ErrorList {
	at := field.NewPath("spec")
	errs := t.Spec.Provider.Problems(at)
	errs = append(errs, selectorProblems(at.Child("amiSelector"), t.Spec.AMISelector, "ami")...)
	if t.Spec.LaunchTemplate != nil {
		if t.Spec.UserData != nil {
			errs = append(errs, excluded(at, "userData"))
		}
		if t.Spec.AMISelector != nil {
			errs = append(errs, excluded(at, "amiSelector"))
		}
	}
	if t.Spec.Family() == FamilyCustom && t.Spec.AMISelector == nil {
		errs = append(errs, field.Required(at.Child("amiSelector"), "amiFamily Custom needs it, nothing else says which image"))
	}
	return errs
}

// Problems returns what is wrong with the settings, which stand at a path.
func (p *Provider) Problems(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p.SubnetSelector == nil {
		errs = append(errs, field.Required(at.Child("subnetSelector"), "it finds the nodes' subnets by their tags"))
	}
	errs = append(errs, selectorProblems(at.Child("subnetSelector"), p.SubnetSelector, "subnet")...)
	errs = append(errs, selectorProblems(at.Child("securityGroupSelector"), p.SecurityGroupSelector, "sg")...)
	if p.LaunchTemplate == nil && p.SecurityGroupSelector == nil {
		errs = append(errs, field.Required(at.Child("securityGroupSelector"), "it finds the nodes' security groups by their tags"))
	}
	if p.LaunchTemplate != nil {
		errs = append(errs, p.launchTemplateProblems(at)...)
	}
	families := []string{FamilyAL2, FamilyBottlerocket, FamilyUbuntu, FamilyCustom}
	if !slices.Contains(families, p.Family()) {
		errs = append(errs, field.NotSupported(at.Child("amiFamily"), p.Family(), families))
	}
	for i, m := range p.BlockDeviceMappings {
		if m == nil {
			errs = append(errs, field.Required(at.Child("blockDeviceMappings").Index(i), "it is null"))
			continue
		}
		errs = append(errs, m.problems(at.Child("blockDeviceMappings").Index(i))...)
	}
	return errs
}

// launchTemplateProblems names what a launch template of the user's own says itself.
func (p *Provider) launchTemplateProblems(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"securityGroupSelector", p.SecurityGroupSelector != nil},
		{"metadataOptions", p.MetadataOptions != nil},
		{"amiFamily", p.AMIFamily != nil},
		{"instanceProfile", p.InstanceProfile != nil},
		{"blockDeviceMappings", p.BlockDeviceMappings != nil},
	} {
		if f.set {
			errs = append(errs, excluded(at, f.name))
		}
	}
	return errs
}

func excluded(at *field.Path, name string) *field.Error {
	return field.Forbidden(at.Child(name), fmt.Sprintf("the launch template says it: remove %s or launchTemplate", name))
}

func selectorProblems(at *field.Path, selector map[string]string, prefix string) field.ErrorList {
	if selector == nil {
		return nil
	}
	if len(selector) == 0 {
		return field.ErrorList{field.Required(at, "an empty selector selects nothing: write tags as key: value, or aws-ids")}
	}
	var errs field.ErrorList
	id := regexp.MustCompile("^" + prefix + "-[0-9a-z]+$")
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value := selector[key]
		if key == "" || value == "" {
			errs = append(errs, field.Invalid(at.Key(key), value, "a selector needs a key and a value, * for any value"))
		}
		if key != SelectorIDs && key != SelectorIDsLater {
			continue
		}
		for one := range strings.SplitSeq(value, ",") {
			if !id.MatchString(strings.TrimSpace(one)) {
				errs = append(errs, field.Invalid(at.Key(key), one, fmt.Sprintf("ids look like %s-0123456789abcdef0, separated by commas", prefix)))
			}
		}
	}
	return errs
}

func (m *BlockDeviceMapping) problems(at *field.Path) field.ErrorList {
	switch {
	case m == nil || m.DeviceName == nil || *m.DeviceName == "":
		return field.ErrorList{field.Required(at.Child("deviceName"), "the device under which the image sees the volume")}
	case m.EBS == nil:
		return field.ErrorList{field.Required(at.Child("ebs"), "the volume's settings")}
	case m.EBS.VolumeSize == nil && m.EBS.SnapshotID == nil:
		return field.ErrorList{field.Required(at.Child("ebs", "volumeSize"), "set snapshotID or volumeSize")}
	}
	size := m.EBS.VolumeSize
	if size != nil && (size.Cmp(resource.MustParse("1G")) < 0 || size.Cmp(resource.MustParse("64T")) > 0) {
		return field.ErrorList{field.Invalid(at.Child("ebs", "volumeSize"), size.String(), "a volume has from 1G to 64T")}
	}
	return nil
}
