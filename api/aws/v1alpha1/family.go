package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// The families of images: how a node boots.
const (
	FamilyAL2          = "AL2"
	FamilyBottlerocket = "Bottlerocket"
	FamilyUbuntu       = "Ubuntu"
	FamilyCustom       = "Custom"
)

// Family returns how nodes boot; AL2 unless the settings say otherwise.
func (p *Provider) Family() string {
	if p.AMIFamily == nil || *p.AMIFamily == "" {
		return FamilyAL2
	}
	return *p.AMIFamily
}

// Keys of a selector that are no tags.
const (
	SelectorIDs       = "aws-ids"     // ids, separated by commas
	SelectorIDsLater  = "aws::ids"    // the same, as later releases write it
	SelectorAMIName   = "aws::name"   // an image's name
	SelectorAMIOwners = "aws::owners" // an image's owners, separated by commas
)

// AnnotationTemplateHash is on templates and claims.
const AnnotationTemplateHash = Group + "/nodetemplate-hash"

// ParseProvider reads the settings that a Provisioner holds under provider. A field that does not exist is an error.
func ParseProvider(raw []byte) (*Provider, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var p Provider
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("spec.provider: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("spec.provider: something follows the object")
	}
	return &p, nil
}
