package playground

import (
	"strings"
	"testing"
)

// What is named wrongly is found before a cluster is started for it.
func TestOptionsAreCheckedFirst(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		want   string // of the error; empty: there is none
	}{
		"Right":     {func(*Options) {}, ""},
		"Elsewhere": {func(o *Options) { o.Region = "ap-southeast-5" }, ""},
		"Fargate":   {func(o *Options) { o.Host = OnFargate }, ""},
		"Region":    {func(o *Options) { o.Region = "us-wset-2" }, `--region: no region "us-wset-2" in the catalogue: did you mean us-west-2?`},
		"NoNumber":  {func(o *Options) { o.Region = "us-west-9" }, `: there is us-west-1, us-west-2; ` + "`tenon types --help` lists all"},
		"NoRegion":  {func(o *Options) { o.Region = "mars-1" }, `no region "mars-1" in the catalogue; ` + "`tenon types --help` lists all"},
		"NoWord":    {func(o *Options) { o.Region = "moon" }, `no region "moon" in the catalogue; ` + "`tenon types --help` lists all"},
		"Version":   {func(o *Options) { o.KubernetesVersion = "abc" }, `--kubernetes-version is "abc", and the simulated EKS has 1.10 to 1.36: say one such as 1.32`},
		"NoVersion": {func(o *Options) { o.KubernetesVersion = "9.99" }, `--kubernetes-version is "9.99"`},
		"Early":     {func(o *Options) { o.KubernetesVersion = "1.9" }, `has 1.10 to 1.36`},
		"Late":      {func(o *Options) { o.KubernetesVersion = "1.99" }, `--kubernetes-version is "1.99", and the simulated EKS has 1.10 to 1.36`},
		"Patch":     {func(o *Options) { o.KubernetesVersion = "1.32.1" }, `--kubernetes-version is "1.32.1"`},
		"Oldest":    {func(o *Options) { o.KubernetesVersion = "1.10" }, ""},
		"Newest":    {func(o *Options) { o.KubernetesVersion = "1.36" }, ""},
		"Managed":   {func(o *Options) { o.Surroundings.Managed = map[string]int{"m5.larg": 1} }, `--managed-nodes: us-west-2 sells no instance type "m5.larg": did you mean "m5.large"?`},
		"NoMachine": {func(o *Options) { o.Surroundings.Managed = map[string]int{"m5.large": -1} }, `--managed-nodes: there cannot be -1 machines of m5.large`},
		"NoFargate": {func(o *Options) { o.Surroundings.Fargate = -1 }, `--fargate-nodes is -1, want zero or more`},
		"Name":      {func(o *Options) { o.ClusterName = "a b" }, `--cluster-name is "a b"; EKS takes letters`},
		"Host":      {func(o *Options) { o.Host = "nope" }, `--host: there is no instance type "nope"`},
		"HostSlip":  {func(o *Options) { o.Host = "m5.larg" }, `--host: there is no instance type "m5.larg": did you mean "m5.large"?`},
		"Chart":     {func(o *Options) { o.Chart = "/nope" }, `--chart names no directory of a chart`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Region: "us-west-2", KubernetesVersion: "1.32", Host: "m5.large", ClusterName: "playground"}
			tc.change(&o)
			err := o.check()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it says %v, want %q", err, tc.want)
			}
		})
	}
}
