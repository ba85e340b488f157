package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/access"
)

// Places where a policy depends on the installation. They are written so that
// CloudFormation, Terraform and envsubst can each fill them in; see names.
const (
	partition = "${AWS_PARTITION}"
	region    = "${AWS_REGION}"
	account   = "${AWS_ACCOUNT_ID}"
	cluster   = "${CLUSTER_NAME}"
)

// Tags of what belongs to the cluster.
const (
	owned    = "kubernetes.io/cluster/" + cluster
	template = "karpenter.k8s.aws/cluster"
	home     = "topology.kubernetes.io/region"
)

// The tags by which pools of either era mark what they launch.
const (
	nodePool    = "karpenter.sh/nodepool"
	provisioner = "karpenter.sh/provisioner-name"
)

// statement grants the calls that it is for.
type statement struct {
	sid       string
	grants    func(access.Call) bool
	resources []string
	when      map[string]any
}

// statements say on what each call may act, and under which conditions.
//
// What Tenon makes must carry the cluster's tag when it is made. What it may
// launch from, rename and end must carry that tag and a pool's: the cluster's
// alone is also on machines and templates of managed node groups. A condition
// cannot say "either of two tags", so there is a statement for each era's.
//
// The network interfaces and Spot requests that come of a launch have no
// condition, since templates of a user's own, which a Provisioner may name, need
// not tag them.
func statements() []statement {
	return slices.Concat(look(), launch(), ofPool("NodePools", nodePool), ofPool("Provisioners", provisioner), rest())
}

func look() []statement {
	return []statement{{
		sid: "See", grants: use(access.Read), resources: []string{"*"},
		when: map[string]any{"StringEquals": map[string]any{"aws:RequestedRegion": region}},
	}}
}

func launch() []statement {
	return []statement{
		{
			sid: "LaunchFrom", grants: actions("CreateFleet", "RunInstances"),
			resources: slices.Concat(ec2("", "image", "snapshot"),
				ec2("*", "capacity-reservation", "key-pair", "network-interface", "placement-group", "security-group", "spot-instances-request", "subnet")),
		},
		{
			sid: "Make", grants: actions("CreateFleet", "RunInstances"), resources: ec2("*", "fleet", "instance", "volume"),
			when: equals("aws:RequestTag/"+owned, "owned"),
		},
		{ // apart from Make: there it would allow launches from any template
			sid: "MakeTemplates", grants: actions("CreateLaunchTemplate"), resources: ec2("*", "launch-template"),
			when: equals("aws:RequestTag/"+owned, "owned"),
		},
		{ // of what these calls make, whatever it is
			sid: "TagWhatIsMade", grants: use(access.Tag), resources: ec2("*", "*"),
			when: map[string]any{"StringEquals": map[string]any{
				"aws:RequestTag/" + owned: "owned", "ec2:CreateAction": []string{"CreateFleet", "CreateLaunchTemplate", "RunInstances"},
			}},
		},
	}
}

// ofPool is what may be done with what carries the cluster's tag and a pool's.
func ofPool(name, tag string) []statement {
	ours := func(more map[string]any) map[string]any {
		more["StringEquals"] = map[string]any{"aws:ResourceTag/" + owned: "owned"}
		more["StringLike"] = map[string]any{"aws:ResourceTag/" + tag: "*"}
		return more
	}
	return []statement{
		{
			sid: "LaunchFromTemplatesOf" + name, grants: actions("CreateFleet", "RunInstances"), resources: ec2("*", "launch-template"),
			when: ours(map[string]any{}),
		},
		{ // a request that ends machines has no tag keys, so that the last condition holds for it
			sid: "ChangeMachinesOf" + name, grants: actions("CreateTags", "TerminateInstances"), resources: ec2("*", "instance"),
			when: ours(map[string]any{"ForAllValues:StringEquals": map[string]any{"aws:TagKeys": []string{"Name", "eks:eks-cluster-name", "karpenter.sh/nodeclaim"}}}),
		},
	}
}

func rest() []statement {
	return []statement{
		{
			sid: "DeleteTemplates", grants: actions("DeleteLaunchTemplate"), resources: ec2("*", "launch-template"),
			when: equals("aws:ResourceTag/"+template, cluster),
		},
		{
			sid: "PassRole", grants: use(access.PassRole), resources: []string{"arn:" + partition + ":iam::" + account + ":role/KarpenterNodeRole-" + cluster},
			when: map[string]any{"StringEquals": map[string]any{"iam:PassedToService": []string{"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}}},
		},
		{
			sid: "SeeProfiles", grants: actions("GetInstanceProfile"), resources: profiles(),
		},
		{
			sid: "MakeProfiles", grants: actions("CreateInstanceProfile", "TagInstanceProfile"), resources: profiles(),
			when: map[string]any{"StringEquals": map[string]any{"aws:RequestTag/" + owned: "owned", "aws:RequestTag/" + home: region}},
		},
		{
			sid: "ChangeProfiles", grants: actions("AddRoleToInstanceProfile", "DeleteInstanceProfile", "RemoveRoleFromInstanceProfile"), resources: profiles(),
			when: map[string]any{"StringEquals": map[string]any{"aws:ResourceTag/" + owned: "owned", "aws:ResourceTag/" + home: region}},
		},
		{
			sid: "Notices", grants: use(access.Queue), resources: []string{"arn:" + partition + ":sqs:" + region + ":" + account + ":" + cluster},
		},
		{
			sid: "Cluster", grants: actions("DescribeCluster"), resources: []string{clusterARN()},
		},
		{
			sid: "ZonalShift", grants: actions("GetManagedResource"), resources: []string{"*"},
			when: equals("arc-zonal-shift:ResourceIdentifier", clusterARN()),
		},
		{
			sid: "Images", grants: use(access.Parameter), resources: []string{"arn:" + partition + ":ssm:" + region + "::parameter/aws/service/*"},
		},
		{
			sid: "Anywhere", grants: use(access.Everywhere), resources: []string{"*"},
		},
	}
}

func use(u access.Use) func(access.Call) bool { return func(c access.Call) bool { return c.Use == u } }

func actions(names ...string) func(access.Call) bool {
	return func(c access.Call) bool { return slices.Contains(names, c.Action) }
}

// ec2 are all resources of some kinds, of an account: "*" is any, "" is AWS' own and others' public ones.
func ec2(owner string, kinds ...string) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, "arn:"+partition+":ec2:"+region+":"+owner+":"+k+"/*")
	}
	return out
}

func profiles() []string {
	return []string{"arn:" + partition + ":iam::" + account + ":instance-profile/*"}
}

func clusterARN() string {
	return "arn:" + partition + ":eks:" + region + ":" + account + ":cluster/" + cluster
}

func equals(key, value string) map[string]any {
	return map[string]any{"StringEquals": map[string]any{key: value}}
}

// policy is the IAM policy that grants the calls, as JSON.
func policy(calls []access.Call) ([]byte, error) {
	type grant struct {
		Sid       string
		Effect    string
		Action    []string
		Resource  []string
		Condition map[string]any `json:",omitempty"`
	}
	var grants []grant
	granted := map[access.Call]bool{}
	for _, s := range statements() {
		g := grant{Sid: s.sid, Effect: "Allow", Resource: s.resources, Condition: s.when}
		for _, c := range calls {
			if s.grants(c) {
				granted[c] = true
				if p := c.Permission(); !slices.Contains(g.Action, p) {
					g.Action = append(g.Action, p)
				}
			}
		}
		if len(g.Action) > 0 {
			grants = append(grants, g)
		}
	}
	for _, c := range calls {
		if !granted[c] {
			return nil, fmt.Errorf("no statement grants %s:%s: say in policy.go on what it may act", c.Service, c.Action)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Version   string
		Statement []grant
	}{"2012-10-17", grants})
	return b.Bytes(), err
}
