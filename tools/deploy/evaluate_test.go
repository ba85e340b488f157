package main

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// ask is what IAM would be asked about one resource of a call.
type ask struct {
	action, resource string            // ec2:TerminateInstances, instance
	has              map[string]string // the resource's tags
	gives            map[string]string // tags that the request gives
	more             map[string]string // other keys of the request
}

// keys are what conditions may look at.
func (a ask) keys() map[string]string {
	out := map[string]string{"aws:RequestedRegion": "${AWS_REGION}"}
	for k, v := range a.has {
		out["aws:ResourceTag/"+k] = v
	}
	for k, v := range a.gives {
		out["aws:RequestTag/"+k] = v
	}
	maps.Copy(out, a.more)
	return out
}

// allows evaluates a policy of Allow statements alone, with the operators that it uses.
func (d document) allows(t *testing.T, a ask) bool {
	t.Helper()
	arn := "arn:" + partition + ":ec2:" + region + ":" + account + ":" + a.resource + "/x-1"
	return slices.ContainsFunc(d.Statement, func(s grant) bool {
		on := slices.ContainsFunc(s.Resource, func(r string) bool { return r == "*" || like(t, r, arn) })
		return s.Effect == "Allow" && slices.Contains(s.Action, a.action) && on && a.meets(t, s.Condition)
	})
}

func like(t *testing.T, pattern, text string) bool {
	t.Helper()
	plain := strings.NewReplacer("/", ":", "$", "", "{", "", "}", "") // path.Match stops at slashes
	ok, err := path.Match(plain.Replace(pattern), plain.Replace(text))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func (a ask) meets(t *testing.T, conditions map[string]map[string]any) bool {
	t.Helper()
	keys := a.keys()
	for operator, wants := range conditions {
		for key, want := range wants {
			var list []string
			switch w := want.(type) {
			case string:
				list = []string{w}
			case []any:
				for _, v := range w {
					list = append(list, v.(string))
				}
			}
			got, there := keys[key]
			switch operator {
			case "StringEquals":
				if !there || !slices.Contains(list, got) {
					return false
				}
			case "StringLike":
				if !there || !slices.ContainsFunc(list, func(p string) bool { return like(t, p, got) }) {
					return false
				}
			case "ForAllValues:StringEquals":
				if key != "aws:TagKeys" {
					t.Fatalf("%s of %s is not understood", operator, key)
				}
				for k := range a.gives {
					if !slices.Contains(list, k) {
						return false
					}
				}
			default:
				t.Fatalf("operator %s is not understood", operator)
			}
		}
	}
	return true
}

// The policy allows what Tenon does with its own things, and nothing with what
// only looks like them: machines and templates of managed node groups carry the
// cluster's tag, too.
func TestPolicyKeepsToOurOwn(t *testing.T) {
	mine := map[string]string{"kubernetes.io/cluster/" + cluster: "owned"}
	with := func(key string) map[string]string {
		out := maps.Clone(mine)
		out[key] = "general"
		return out
	}
	pool, old, group := with(nodePool), with(provisioner), with("eks:nodegroup-name")
	foreign := map[string]string{"kubernetes.io/cluster/other": "owned", nodePool: "general"}
	const fleet, run, end, tag, newTemplate, dropTemplate = "ec2:CreateFleet", "ec2:RunInstances", "ec2:TerminateInstances", "ec2:CreateTags", "ec2:CreateLaunchTemplate", "ec2:DeleteLaunchTemplate"
	tests := map[string]struct {
		why  string
		asks []ask
		want bool
	}{
		"End":            {"Machines of a NodePool are ours.", []ask{{action: end, resource: "instance", has: pool}}, true},
		"EndOld":         {"So are those of a Provisioner.", []ask{{action: end, resource: "instance", has: old}}, true},
		"EndGroup":       {"A managed node group's are not.", []ask{{action: end, resource: "instance", has: group}}, false},
		"EndForeign":     {"Nor are another cluster's.", []ask{{action: end, resource: "instance", has: foreign}}, false},
		"EndPlain":       {"Nor is anything else.", []ask{{action: end, resource: "instance"}}, false},
		"LaunchOurs":     {"We launch from our templates.", []ask{{action: fleet, resource: "launch-template", has: pool, gives: pool}, {action: run, resource: "launch-template", has: old, gives: old}}, true},
		"LaunchGroup":    {"Not from a node group's, whatever tags the machines get.", []ask{{action: fleet, resource: "launch-template", has: group, gives: pool}}, false},
		"LaunchAny":      {"Nor from any other.", []ask{{action: run, resource: "launch-template", gives: pool}}, false},
		"Inputs":         {"Images, subnets and the like are the class' choice.", []ask{{action: fleet, resource: "subnet"}, {action: run, resource: "security-group"}, {action: run, resource: "network-interface"}, {action: run, resource: "spot-instances-request"}}, true},
		"Make":           {"What is made carries the cluster's tag.", []ask{{action: fleet, resource: "fleet", gives: pool}, {action: run, resource: "instance", gives: pool}, {action: run, resource: "volume", gives: old}, {action: newTemplate, resource: "launch-template", gives: pool}}, true},
		"MakeBare":       {"Nothing is made without.", []ask{{action: run, resource: "instance", gives: map[string]string{nodePool: "general"}}}, false},
		"TagWhatIsMade":  {"It is tagged in the same call.", []ask{{action: tag, resource: "instance", gives: pool, more: map[string]string{"ec2:CreateAction": "CreateFleet"}}, {action: tag, resource: "launch-template", gives: pool, more: map[string]string{"ec2:CreateAction": "CreateLaunchTemplate"}}}, true},
		"Name":           {"Machines get their names later.", []ask{{action: tag, resource: "instance", has: pool, gives: map[string]string{"Name": "n", "karpenter.sh/nodeclaim": "c", "eks:eks-cluster-name": "demo"}}}, true},
		"Adopt":          {"A machine cannot be made ours by a tag.", []ask{{action: tag, resource: "instance", has: group, gives: map[string]string{nodePool: "general"}}}, false},
		"NameGroup":      {"A node group's machine cannot even be renamed.", []ask{{action: tag, resource: "instance", has: group, gives: map[string]string{"Name": "n"}}}, false},
		"Retag":          {"Nor can one of ours be given away.", []ask{{action: tag, resource: "instance", has: pool, gives: map[string]string{nodePool: "other"}}}, false},
		"DropTemplate":   {"Our templates are deleted.", []ask{{action: dropTemplate, resource: "launch-template", has: map[string]string{template: cluster}}}, true},
		"DropOthers":     {"A user's own is not, although it may be launched from.", []ask{{action: dropTemplate, resource: "launch-template", has: old}}, false},
		"ForeignCluster": {"Nor is another cluster's.", []ask{{action: dropTemplate, resource: "launch-template", has: map[string]string{template: "other"}}}, false},
	}
	d := parse(t, read(t, "iam/controller-policy.json"))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, a := range tc.asks {
				if got := d.allows(t, a); got != tc.want {
					t.Errorf("%s on %s with %v is allowed: %t. %s", a.action, a.resource, a.has, got, tc.why)
				}
			}
		})
	}
}
