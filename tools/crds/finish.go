package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/quantity"
)

// Patterns of values.
const (
	qualifiedName = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	labelValue    = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	// threshold is a level of an eviction signal: an amount, or a share from 0% to 100%.
	threshold = `^((100(\.0*)?|[0-9]{1,2}(\.[0-9]*)?)%|\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?)$`
	// endless is what controller-gen gives a quantity: its exponent may be of any size, and have a fraction, which
	// cannot be read.
	endless = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
)

type schema = apiextensions.JSONSchemaProps

// finish adds what is missing to the schema of each kind.
func finish(kinds map[string]*apiextensions.CustomResourceDefinition) error {
	root := func(kind string) *schema {
		crd := kinds[kind]
		if crd == nil {
			return nil
		}
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	for _, kind := range []string{
		"NodePool", "NodeClaim", "NodeOverlay", "Provisioner", "EC2NodeClass", "AWSNodeTemplate",
	} {
		if root(kind) == nil {
			return fmt.Errorf("no CRD of kind %s", kind)
		}
	}
	steps := []step{
		{root("NodePool"), "spec.template.spec.taints[]", taint},
		{root("NodePool"), "spec.template.spec.startupTaints[]", taint},
		{root("NodePool"), "spec.template.spec.requirements[].key", poolKey},
		{root("NodePool"), "spec.template.metadata.labels", poolLabels},
		{root("NodePool"), "spec.template.metadata.labels", values(labelValue, 63)},
		{root("NodeClaim"), "spec.taints[]", taint},
		{root("NodeClaim"), "spec.startupTaints[]", taint},
		{root("NodeClaim"), "spec.requirements[].key", claimKey},
		{root("NodeClaim"), "status.conditions[]", relaxed("lastTransitionTime", "status", "type")},
		{root("NodeOverlay"), "spec.requirements[].key", overlayKey},
		{root("Provisioner"), "spec.taints[]", taint},
		{root("Provisioner"), "spec.startupTaints[]", taint},
		{root("Provisioner"), "spec.requirements[].key", provisionerKey},
		{root("Provisioner"), "spec.labels", provisionerLabels},
		{root("Provisioner"), "spec.labels", values(labelValue, 63)},
		{root("Provisioner"), "spec.kubeletConfiguration.systemReserved", atMost(10)},
		{root("Provisioner"), "spec.kubeletConfiguration.kubeReserved", atMost(10)},
		{root("Provisioner"), "spec.kubeletConfiguration.evictionHard", values(threshold, 63)},
		{root("Provisioner"), "spec.kubeletConfiguration.evictionSoft", values(threshold, 63)},
		{root("Provisioner"), "status.conditions[]", relaxed("status", "type")},
		{root("AWSNodeTemplate"), "spec.subnetSelector", values("", 2048)},
		{root("AWSNodeTemplate"), "spec.securityGroupSelector", values("", 2048)},
		{root("AWSNodeTemplate"), "spec.amiSelector", values("", 2048)},
		{root("Provisioner"), "spec.provider", providerOf(root("AWSNodeTemplate"))},
	}
	for _, s := range steps {
		if err := s.take(); err != nil {
			return err
		}
	}
	for _, crd := range kinds {
		for i := range crd.Spec.Versions {
			bound(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
	return nil
}

// bound puts an end to the quantities in a schema.
func bound(s *schema) {
	if s.Pattern == endless {
		s.Pattern = quantity.Pattern
	}
	if s.XIntOrString && s.Pattern != "" || slices.ContainsFunc(s.AllOf, func(part schema) bool { return part.Pattern == endless }) {
		s.MaxLength = new(int64(quantity.MaxLength))
	}
	for i := range s.AllOf {
		bound(&s.AllOf[i])
	}
	for name, field := range s.Properties {
		bound(&field)
		s.Properties[name] = field
	}
	if s.Items != nil && s.Items.Schema != nil {
		bound(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		bound(s.AdditionalProperties.Schema)
	}
}

// step edits the schema found at a path, whose parts are fields and whose [] is an item of a list.
type step struct {
	root *schema
	path string
	edit func(*schema)
}

func (s step) take() error { return at(s.root, strings.Split(s.path, "."), s.path, s.edit) }

func at(in *schema, parts []string, path string, edit func(*schema)) error {
	if len(parts) == 0 {
		edit(in)
		return nil
	}
	name, item := strings.CutSuffix(parts[0], "[]")
	field, ok := in.Properties[name]
	if !ok {
		return fmt.Errorf("%s: no field %s", path, name)
	}
	target := &field
	if item {
		if field.Items == nil || field.Items.Schema == nil {
			return fmt.Errorf("%s: %s is no list", path, name)
		}
		target = field.Items.Schema
	}
	if err := at(target, parts[1:], path, edit); err != nil {
		return err
	}
	in.Properties[name] = field
	return nil
}

// taint checks a taint, whose type is Kubernetes' own and says little.
func taint(s *schema) {
	s.Description = "A taint of a node."
	s.Properties = map[string]schema{
		"key": {
			Type: "string", MinLength: new(int64(1)), MaxLength: new(int64(316)), Description: "Key of the taint.",
			Pattern: qualifiedName,
		},
		"value": {
			Type: "string", MaxLength: new(int64(63)), Description: "Value of the taint.",
			Pattern: labelValue,
		},
		"effect": {
			Type: "string", Description: "What becomes of pods that do not tolerate it.",
			Enum: enum("NoSchedule", "PreferNoSchedule", "NoExecute"),
		},
		"timeAdded": {Type: "string", Format: "date-time", Description: "When it was added."},
	}
	s.Required = []string{"effect", "key"}
}

// values bounds the values of a map.
func values(pattern string, length int64) func(*schema) {
	return func(s *schema) {
		s.AdditionalProperties.Schema.Pattern = pattern
		s.AdditionalProperties.Schema.MaxLength = &length
	}
}

// atMost bounds how many entries a map has, so that its rules have a price.
func atMost(entries int64) func(*schema) {
	return func(s *schema) { s.MaxProperties = &entries }
}

// relaxed is for conditions that other releases wrote with less in them.
func relaxed(required ...string) func(*schema) {
	return func(s *schema) {
		s.Required = required
		reason := s.Properties["reason"]
		reason.MinLength = nil
		reason.Pattern = `^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$`
		s.Properties["reason"] = reason
	}
}

// providerOf gives a Provisioner's inline provider the fields it shares with an AWSNodeTemplate, and their rules.
func providerOf(template *schema) func(*schema) {
	return func(s *schema) {
		spec := template.Properties["spec"]
		s.XPreserveUnknownFields = nil // a field that does not exist is a mistake to be told
		s.Properties = map[string]schema{}
		fields := reflect.TypeFor[awsv1alpha1.Provider]()
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
			s.Properties[name] = spec.Properties[name]
		}
		s.Required = spec.Required
		for _, rule := range spec.XValidations {
			if !slices.ContainsFunc([]string{"userData", "amiSelector"}, func(f string) bool { return strings.Contains(rule.Rule, f) }) {
				s.XValidations = append(s.XValidations, rule)
			}
		}
		family := s.Properties["amiFamily"]
		family.XValidations = apiextensions.ValidationRules{{
			Rule:    "self != 'Custom'",
			Message: "amiFamily Custom needs amiSelector, which only an AWSNodeTemplate has: use providerRef",
		}}
		s.Properties["amiFamily"] = family
	}
}

func enum(values ...string) []apiextensions.JSON {
	var all []apiextensions.JSON
	for _, v := range values {
		all = append(all, apiextensions.JSON{Raw: []byte(`"` + v + `"`)})
	}
	return all
}
