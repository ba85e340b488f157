package playground

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// oldestMinor and newestMinor are the first and the last 1.x that the simulated EKS has: those of EKS itself, up to the API server that is built in.
const (
	oldestMinor = 10
	newestMinor = 36
)

// clusterName is what a cluster may be called on EKS.
var clusterName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// check finds what is wrong with the options that name something, before anything is started.
func (o *Options) check() error {
	types, err := catalog.Load()
	if err != nil {
		return err
	}
	region, err := types.Region(o.Region)
	if err != nil {
		return fmt.Errorf("--region: %w", err)
	}
	if !hasVersion(o.KubernetesVersion) {
		return fmt.Errorf("--kubernetes-version is %q, and the simulated EKS has 1.%d to 1.%d: say one such as 1.32", o.KubernetesVersion, oldestMinor, newestMinor)
	}
	var known []string
	for _, t := range region.Types() {
		known = append(known, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Surroundings.Managed)) {
		if err := named("--managed-nodes", name, o.Region, known); err != nil {
			return err
		}
		if n := o.Surroundings.Managed[name]; n < 0 {
			return fmt.Errorf("--managed-nodes: there cannot be %d machines of %s", n, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.ExtraTypes)) {
		if err := named("--extra-types", o.ExtraTypes[name], o.Region, known); err != nil {
			return err
		}
		if slices.Contains(known, name) {
			return fmt.Errorf("--extra-types: %s sells %s already", o.Region, name)
		}
	}
	if n := o.Surroundings.Fargate; n < 0 {
		return fmt.Errorf("--fargate-nodes is %d, want zero or more", n)
	}
	if !clusterName.MatchString(o.ClusterName) {
		return fmt.Errorf("--cluster-name is %q; EKS takes letters, digits, hyphens and underscores, at most 100, of which the first is a letter or digit", o.ClusterName)
	}
	if _, ok := types.Type(o.Host); !ok && o.Host != "" && o.Host != OnFargate { // it is not bought, so the region need not sell it
		return fmt.Errorf("--host: %w", noType(types, o.Host))
	}
	if o.Chart != "" {
		if _, err := os.Stat(filepath.Join(o.Chart, "Chart.yaml")); err != nil {
			return fmt.Errorf("--chart names no directory of a chart: %w", err)
		}
	}
	return nil
}

// hasVersion reports whether the simulated EKS has a version of Kubernetes.
func hasVersion(version string) bool {
	for minor := oldestMinor; minor <= newestMinor; minor++ {
		if version == fmt.Sprintf("1.%d", minor) {
			return true
		}
	}
	return false
}

// noType says that there is no instance type of a name, and which may be meant.
func noType(c *catalog.Catalog, name string) error {
	var known []string
	for _, t := range c.Types() {
		known = append(known, t.Name)
	}
	if meant := label.Meant(name, known); meant != "" {
		return fmt.Errorf("there is no instance type %q: did you mean %q?", name, meant)
	}
	return fmt.Errorf("there is no instance type %q; `tenon types` lists them", name)
}

// named says what is wrong with the name of an instance type; nil if it is known.
func named(flag, name, region string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	if meant := label.Meant(name, known); meant != "" {
		return fmt.Errorf("%s: %s sells no instance type %q: did you mean %q?", flag, region, name, meant)
	}
	return fmt.Errorf("%s: %s sells no instance type %q; `tenon types --region %s` lists them", flag, region, name, region)
}
