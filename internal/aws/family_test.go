package aws_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A machine of every family boots with user data that tells it the cluster, its
// labels and its taints in the family's own words.
func TestFamilies(t *testing.T) {
	credentials(t)
	own := market.Image{ID: "ami-0own", Name: "own", Arch: "x86_64", Owner: "123456789012"}
	alias := func(family, alias string) func(*nodeclass.Class) {
		return func(c *nodeclass.Class) { c.Family, c.Images = family, []nodeclass.ImageSelector{{Alias: alias}} }
	}
	tests := map[string]struct {
		kubernetes string
		class      func(*nodeclass.Class)
		starts     string
		holds      []string
	}{
		"AL2": {
			kubernetes: "1.32", class: alias("AL2", "al2@latest"), starts: "MIME-Version: 1.0",
			holds: []string{"/etc/eks/bootstrap.sh 'demo'", "--apiserver-endpoint 'https://demo.example'", "karpenter.sh/nodepool=general", "team=a:NoSchedule"},
		},
		"AL2023": {
			class: alias("AL2023", "al2023@latest"), starts: "MIME-Version: 1.0",
			holds: []string{"application/node.eks.aws", "kind: NodeConfig", "apiServerEndpoint: https://demo.example", "karpenter.sh/nodepool=general"},
		},
		"Bottlerocket": {
			class:  alias("Bottlerocket", "bottlerocket@latest"),
			holds:  []string{"[settings.kubernetes]", "api-server", "https://demo.example", "karpenter.sh/nodepool", "general", "[settings.kubernetes.node-taints]", "a:NoSchedule"},
			starts: "[settings",
		},
		"Windows2022": {
			class: alias("Windows2022", "windows2022@latest"), starts: "<powershell>",
			holds: []string{"Start-EKSBootstrap.ps1", "-EKSClusterName 'demo'", "-APIServerEndpoint 'https://demo.example'", "karpenter.sh/nodepool=general", "</powershell>"},
		},
		"Custom": {
			class: func(c *nodeclass.Class) {
				c.Family, c.UserData = "Custom", "#!/bin/sh\njoin the cluster"
				c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{IDs: []string{own.ID}}}}
			},
			starts: "#!/bin/sh\njoin the cluster",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, change: tc.class, config: func(c *awsapi.Config) {
					if tc.kubernetes != "" {
						c.KubernetesVersion = tc.kubernetes
					}
				}}
				m := w.account().Market
				m.AddImage(own)
				o := order("one", 1, label.OnDemand)
				o.Taints = []world.Taint{{Key: "team", Value: "a", Effect: world.NoSchedule}}
				out := w.start().Launch(t.Context(), []cloud.Order{o})[0]
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				data, err := base64.StdEncoding.DecodeString(m.Instances()[0].Data.UserData)
				if err != nil {
					t.Fatal(err)
				}
				text := string(data)
				if !strings.HasPrefix(text, tc.starts) {
					t.Errorf("the user data begins with %q", text[:min(60, len(text))])
				}
				for _, want := range tc.holds {
					if !strings.Contains(text, want) {
						t.Errorf("%q is not in the user data:\n%s", want, text)
					}
				}
			})
		})
	}
}
