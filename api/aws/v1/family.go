package v1

import (
	"strings"

	"github.com/tenon-sh/tenon/api/digest"
)

// The families of images: how a node boots.
const (
	FamilyAL2          = "AL2"
	FamilyAL2023       = "AL2023"
	FamilyBottlerocket = "Bottlerocket"
	FamilyCustom       = "Custom"
	FamilyWindows2019  = "Windows2019"
	FamilyWindows2022  = "Windows2022"
	FamilyWindows2025  = "Windows2025"
)

// Alias returns the family and version of the class' alias, or false if it has none.
func (c *EC2NodeClass) Alias() (family, version string, ok bool) {
	for _, t := range c.Spec.AMISelectorTerms {
		name, version, found := strings.Cut(t.Alias, "@")
		if found {
			return familyOf(name), version, true
		}
	}
	return "", "", false
}

// Family returns how nodes of the class boot: as the class says, or as its alias implies.
func (c *EC2NodeClass) Family() string {
	if c.Spec.AMIFamily != nil {
		return *c.Spec.AMIFamily
	}
	if family, _, ok := c.Alias(); ok {
		return family
	}
	return FamilyCustom
}

func familyOf(alias string) string {
	for _, f := range []string{
		FamilyAL2, FamilyAL2023, FamilyBottlerocket, FamilyWindows2019, FamilyWindows2022, FamilyWindows2025,
	} {
		if strings.EqualFold(f, alias) {
			return f
		}
	}
	return FamilyCustom
}

// HashVersion names how Hash is made. It is not Karpenter's, so neither controller takes the other's nodes for drifted.
const HashVersion = digest.Version

// Hash tells whether machines made from the class before would be made otherwise today. Selectors are left out: what
// they find is compared, not how it is asked for. caBundle is the cluster's, which is baked into user data.
func (c *EC2NodeClass) Hash(caBundle string) string {
	return digest.Of(struct {
		Spec     EC2NodeClassSpec
		Family   string
		CABundle string
	}{c.Spec, c.Family(), caBundle})
}
