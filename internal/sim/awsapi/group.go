package awsapi

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// NodeGroup is a managed node group of one type.
type NodeGroup struct {
	Name     string
	Type     string
	Count    int
	UserData string // for Amazon Linux 2
}

// TagNodeGroup is the tag by which EKS names the group of a machine.
const TagNodeGroup = "eks:nodegroup-name"

// LaunchGroup launches the machines of a group in the private subnets in turn, with the tags that EKS and its Auto
// Scaling group give them. The group itself is none of the account's: nothing replaces a machine that ends.
func (a *Account) LaunchGroup(g NodeGroup) ([]market.Instance, error) {
	t := a.Market.Type(g.Type)
	if t == nil {
		return nil, fmt.Errorf("managed node group %s: no instance type %q in %s", g.Name, g.Type, a.cfg.Region)
	}
	variant := ""
	if slices.Contains(t.Archs, "arm64") {
		variant = "-arm64"
	}
	image, err := a.Market.Parameter(fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/recommended/image_id", a.cfg.KubernetesVersion, variant))
	if err != nil {
		return nil, fmt.Errorf("managed node group %s: its image: %w", g.Name, err)
	}
	subnets := slices.DeleteFunc(a.Market.Subnets(), func(s market.Subnet) bool { return s.Public || !slices.Contains(t.Zones, s.Zone) })
	if len(subnets) == 0 {
		return nil, fmt.Errorf("managed node group %s: no private subnet is in a zone that sells %s", g.Name, g.Type)
	}
	slices.SortFunc(subnets, func(a, b market.Subnet) int { return a.Range.Addr().Compare(b.Range.Addr()) })
	var groups []string
	for _, s := range a.Market.SecurityGroups() {
		if s.Tags["aws:eks:cluster-name"] != "" {
			groups = append(groups, s.ID)
		}
	}
	ours := market.Tags{"eks:cluster-name": a.cfg.ClusterName, TagNodeGroup: g.Name}
	instance := market.Tags{
		"eks:cluster-name": a.cfg.ClusterName, TagNodeGroup: g.Name, "aws:eks:cluster-name": a.cfg.ClusterName,
		"kubernetes.io/cluster/" + a.cfg.ClusterName: "owned", "aws:autoscaling:groupName": "eks-" + g.Name + "-" + a.Market.UUID("group"),
		"k8s.io/cluster-autoscaler/enabled": "true", "k8s.io/cluster-autoscaler/" + a.cfg.ClusterName: "owned",
	}
	var out []market.Instance
	for n := range g.Count {
		made, err := a.Market.RunInstances(market.RunRequest{
			Data: market.TemplateData{
				Image: image.Value, Type: g.Type, Groups: groups, UserData: base64.StdEncoding.EncodeToString([]byte(g.UserData)),
			},
			Subnet: subnets[n%len(subnets)].ID, Min: 1, Max: 1,
			Tags: []market.TagSpec{{Kind: "instance", Tags: instance}, {Kind: "volume", Tags: ours}, {Kind: "network-interface", Tags: ours}},
		})
		if err != nil {
			return out, fmt.Errorf("managed node group %s: machine %d of %d: %w", g.Name, n+1, g.Count, err)
		}
		out = append(out, made...)
	}
	return out, nil
}
