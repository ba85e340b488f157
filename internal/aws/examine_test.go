package aws_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Everything is in order once a machine was launched: nothing is bad, and nothing was changed by looking.
func TestExamineWhatIsWell(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, queue: "demo"}
		d := w.start()
		if out := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]; out.Err != nil {
			t.Fatal(out.Err)
		}
		for _, f := range append(d.ExamineAccount(t.Context()), d.ExamineClass(t.Context(), templateOf().Class)...) {
			if f.Level != examine.Good {
				t.Errorf("%+v", f)
			}
		}
		if n := len(w.account().Market.Instances()); n != 1 {
			t.Errorf("%d machines run after the examination", n)
		}
	})
}

// Each thing that may be wrong is found, and nothing else is called bad.
func TestExamineWhatIsWrong(t *testing.T) {
	credentials(t)
	deny := func(action string) func(*virtual) {
		return func(w *virtual) { w.account().Rules.Add(fault.Rule{Action: action, Kind: fault.Deny}) }
	}
	change := func(f func(*nodeclass.Class)) func(*virtual) { return func(w *virtual) { w.change = f } }
	tests := map[string]struct {
		wrong func(*virtual)
		level examine.Level
		check string
		says  string
	}{
		"Permission": {deny("DescribeSpotPriceHistory"), examine.Bad, "ec2:DescribeSpotPriceHistory", "UnauthorizedOperation"},
		"Start":      {deny("RunInstances"), examine.Bad, "start a machine", "UnauthorizedOperation"},
		"End":        {deny("TerminateInstances"), examine.Bad, "ec2:TerminateInstances", "UnauthorizedOperation"},
		"Expired":    {func(w *virtual) { w.account().Rules.Add(fault.Rule{Kind: fault.Expire}) }, examine.Bad, "credentials", "RequestExpired"},
		"Unreached":  {func(w *virtual) { w.account().Rules.Add(fault.Rule{Kind: fault.Drop}) }, examine.Bad, "connection", "EC2 cannot be reached: ec2:DescribeSubnets: "},
		"Queue":      {func(w *virtual) { w.queue = "other" }, examine.Bad, "interruption queue", "other does not exist"},
		"NoQueue":    {func(w *virtual) { w.queue = "" }, examine.Warning, "interruption queue", "none is configured"},
		"Cluster": {func(w *virtual) {
			w.account().Rules.Add(fault.Rule{Action: "DescribeCluster", Kind: fault.Fail, Code: "ResourceNotFoundException", Message: "No cluster found for name: demo."})
		}, examine.Bad, "cluster", "EKS has no cluster demo in us-west-2"},
		"Subnets": {change(func(c *nodeclass.Class) { c.Subnets = []nodeclass.Selector{{IDs: []string{"subnet-0"}}} }), examine.Bad, "subnets", "no subnet matched"},
		"Groups":  {change(func(c *nodeclass.Class) { c.Groups = []nodeclass.Selector{{Name: "none"}} }), examine.Bad, "security groups", "no security groups exist"},
		"Images": {change(func(c *nodeclass.Class) {
			c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{IDs: []string{"ami-0123"}}}}
		}), examine.Bad, "images", "no amis exist"},
		"Profile":   {change(func(c *nodeclass.Class) { c.Profile, c.Role = "none", "" }), examine.Bad, "instance profile", "none does not exist"},
		"NoProfile": {change(func(c *nodeclass.Class) { c.Role = "" }), examine.Bad, "instance profile", "--default-instance-profile"},
		"NewRole":   {change(func(c *nodeclass.Class) { c.Role = "other" }), examine.Unclear, "instance profile", "will be made with the first machine"},
		"Kubelet":   {change(func(c *nodeclass.Class) { c.Kubelet = []byte(`{"maxPods":[]}`) }), examine.Bad, "kubelet settings", "maxPods"},
		"Group":     {change(func(c *nodeclass.Class) { c.PlacementGroup = &nodeclass.Selector{Name: "none"} }), examine.Bad, "placement group", "no placement group meets {name none}"},
		"Fleet":     {deny("CreateFleet"), examine.Bad, "start a fleet", "UnauthorizedOperation"},
		"TwoOwned":  {ownGroups, examine.Warning, "security groups", "tagged as the cluster's own"},
		"OneZone":   {change(oneZone), examine.Warning, "subnets", "all are in us-west-2a"},
		"Quota": {func(w *virtual) {
			w.account().Rules.Add(fault.Rule{Action: "RunInstances", Kind: fault.Fail, Code: "VcpuLimitExceeded", Message: "no more"})
		}, examine.Warning, "start a machine", "VcpuLimitExceeded: no more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, queue: "demo"}
				if out := w.start().Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]; out.Err != nil {
					t.Fatal(out.Err)
				}
				tc.wrong(w)
				d := w.start()
				found := d.ExamineAccount(t.Context())
				if want := tc.check == "connection" || tc.check == "credentials"; examine.Futile(found) != want {
					t.Errorf("it is futile to go on: %t, want %t", !want, want)
				} else if !want {
					found = append(found, d.ExamineClass(t.Context(), templateOf().Class)...)
				}
				if !slices.ContainsFunc(found, func(f examine.Finding) bool {
					return f.Level == tc.level && f.Check == tc.check && strings.Contains(f.Says+" → "+f.Fix, tc.says)
				}) {
					t.Errorf("not found: %s %s %q, but %+v", tc.level, tc.check, tc.says, found)
				}
				for _, f := range found {
					if f.Level == examine.Bad && f.Check != tc.check {
						t.Errorf("%+v is called bad", f)
					}
					if f.Level == examine.Bad && f.Fix == "" && !advises(f.Says) {
						t.Errorf("%+v does not say what to do", f)
					}
				}
			})
		})
	}
}

// Without credentials that is said once, and nothing is asked.
func TestExamineWithoutCredentials(t *testing.T) {
	credentials(t)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, queue: "demo"}
		found := w.start().ExamineAccount(t.Context())
		if len(found) != 1 || found[0].Level != examine.Bad || !strings.HasPrefix(found[0].Says, "there are none: ") || !examine.Futile(found) {
			t.Errorf("without credentials it finds %+v", found)
		}
	})
}

// advises reports whether a message says what to do.
func advises(text string) bool {
	return slices.ContainsFunc([]string{": correct ", ": create ", ": tag ", ": allow ", ": set ", ", or correct "}, func(s string) bool { return strings.Contains(text, s) })
}

func oneZone(c *nodeclass.Class) {
	c.Subnets = []nodeclass.Selector{{Tags: append(c.Subnets[0].Tags, nodeclass.Tag{Key: "Name", Values: []string{"eksctl-demo-cluster/SubnetPrivateus-west-2a"}})}}
}

// ownGroups has the class select two groups that are both the cluster's own.
func ownGroups(w *virtual) {
	m := w.account().Market
	vpc := m.Subnets()[0].VPC
	for _, name := range []string{"a", "b"} {
		m.AddSecurityGroup(market.SecurityGroup{VPC: vpc, Name: name, Tags: market.Tags{"kubernetes.io/cluster/demo": "owned", "two": "yes"}})
	}
	w.change = func(c *nodeclass.Class) { c.Groups = []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "two"}}}} }
}
