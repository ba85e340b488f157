package awsapi

import (
	"slices"
	"strconv"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

type newTemplate struct {
	LaunchTemplateName string
	LaunchTemplateId   string
	VersionDescription string
	SourceVersion      string
	ClientToken        string
	LaunchTemplateData launchData
	TagSpecification   []tagSpecification
	DryRun             bool
}

func (in newTemplate) model(c *call) market.NewTemplate {
	return market.NewTemplate{
		Name: in.LaunchTemplateName, Description: in.VersionDescription, Token: in.ClientToken, By: c.caller.arn,
		Data: in.LaunchTemplateData.model(), Tags: specFor(in.TagSpecification, "launch-template"),
	}
}

func createLaunchTemplate(c *call) ([]node, error) {
	var in newTemplate
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	r := in.model(c)
	if err := reservedTag(r.Tags); err != nil {
		return nil, err
	}
	if in.DryRun {
		if err := c.market.CheckTemplate(r); err != nil {
			return nil, err
		}
		return nil, dryRun()
	}
	t, err := c.market.CreateTemplate(r)
	if err != nil {
		return nil, err
	}
	return []node{el("launchTemplate", templateNodes(t)...)}, nil
}

func createLaunchTemplateVersion(c *call) ([]node, error) {
	var in newTemplate
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.DryRun {
		return nil, dryRun()
	}
	t, v, err := c.market.AddTemplateVersion(market.TemplateRef{ID: in.LaunchTemplateId, Name: in.LaunchTemplateName}, in.model(c))
	if err != nil {
		return nil, err
	}
	return []node{el("launchTemplateVersion", versionNodes(t, v)...)}, nil
}

func deleteLaunchTemplate(c *call) ([]node, error) {
	var in struct {
		LaunchTemplateId   string
		LaunchTemplateName string
		DryRun             bool
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.DryRun {
		return nil, dryRun()
	}
	t, err := c.market.DeleteTemplate(market.TemplateRef{ID: in.LaunchTemplateId, Name: in.LaunchTemplateName})
	if err != nil {
		return nil, err
	}
	return []node{el("launchTemplate", templateNodes(t)...)}, nil
}

func describeLaunchTemplates(c *call) ([]node, error) {
	var in struct {
		lookup

		LaunchTemplateId   []string
		LaunchTemplateName []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	all, err := named(c.market.Templates(), in.LaunchTemplateId, func(t market.Template) string { return t.ID }, func(id string) error {
		return market.Errorf(market.InvalidLaunchTemplateIDNotFound, "The specified launch template, with template ID %s, does not exist.", id)
	})
	if err != nil {
		return nil, err
	}
	all, err = named(all, in.LaunchTemplateName, func(t market.Template) string { return t.Name }, func(string) error {
		return market.Errorf(market.InvalidLaunchTemplateNameNotFound, "At least one of the launch templates specified in the request does not exist.")
	})
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, all, view[market.Template]{
		set: "launchTemplates", pages: pages{least: 1, most: 200, usual: 200},
		tags: func(t market.Template) market.Tags { return t.Tags },
		facts: func(t market.Template) facts {
			return table(map[string]string{"launch-template-name": t.Name, "create-time": stamp(t.Created)})
		},
		shows: templateNodes,
	})
}

func templateNodes(t market.Template) []node {
	return []node{
		txt("launchTemplateId", t.ID), txt("launchTemplateName", t.Name), moment("createTime", t.Created), txt("createdBy", t.By),
		num("defaultVersionNumber", t.Default), num("latestVersionNumber", t.Latest().Number), tagSet("tagSet", t.Tags),
	}
}

func describeLaunchTemplateVersions(c *call) ([]node, error) {
	var in struct {
		lookup

		LaunchTemplateId      string
		LaunchTemplateName    string
		LaunchTemplateVersion []string
		MinVersion            string
		MaxVersion            string
		ResolveAlias          bool
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	found, err := versionsOf(c, market.TemplateRef{ID: in.LaunchTemplateId, Name: in.LaunchTemplateName}, in.LaunchTemplateVersion)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f versionOf) bool { return outside(f.version.Number, in.MinVersion, in.MaxVersion) })
	page, next, err := cut(found, pages{least: 1, most: 200, usual: 200}, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list("launchTemplateVersionSet", page, func(f versionOf) []node { return versionNodes(f.template, f.version) }), txt("nextToken", next)}, nil
}

type versionOf struct {
	template market.Template
	version  market.TemplateVersion
}

// versionsOf finds the versions asked for: of one template, or $Latest and $Default of all.
func versionsOf(c *call, ref market.TemplateRef, versions []string) ([]versionOf, error) {
	templates := c.market.Templates()
	if ref.ID != "" || ref.Name != "" {
		t, err := c.market.Template(ref)
		if err != nil {
			return nil, err
		}
		templates = []market.Template{t}
	} else if len(versions) == 0 {
		return nil, missing("LaunchTemplateId")
	}
	var out []versionOf
	for _, t := range templates {
		if len(versions) == 0 {
			for _, v := range slices.Backward(t.Versions) {
				out = append(out, versionOf{t, v})
			}
		}
		for _, text := range versions {
			v, err := t.Version(text)
			if err != nil {
				return nil, err
			}
			out = append(out, versionOf{t, v})
		}
	}
	return out, nil
}

func outside(n int64, least, most string) bool {
	if low, err := strconv.ParseInt(least, 10, 64); err == nil && n < low {
		return true
	}
	high, err := strconv.ParseInt(most, 10, 64)
	return err == nil && n > high
}

func versionNodes(t market.Template, v market.TemplateVersion) []node {
	return []node{
		txt("launchTemplateId", t.ID), txt("launchTemplateName", t.Name), num("versionNumber", v.Number), txt("versionDescription", v.Description),
		moment("createTime", v.Created), txt("createdBy", v.By), flag("defaultVersion", v.Number == t.Default), dataNodes(v.Data),
	}
}
