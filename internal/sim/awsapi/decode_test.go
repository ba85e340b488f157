package awsapi

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestDecode(t *testing.T) {
	form := url.Values{
		"Action": {"CreateFleet"}, "ClientToken": {"t"}, "DryRun": {"true"},
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName": {"lt"},
		"LaunchTemplateConfigs.1.Overrides.10.InstanceType":                      {"last"},
		"LaunchTemplateConfigs.1.Overrides.2.InstanceType":                       {"first"},
		"LaunchTemplateConfigs.1.Overrides.2.Priority":                           {"0.5"},
		"TargetCapacitySpecification.TotalTargetCapacity":                        {"3"},
	}
	var in fleetInput
	if err := decode(form, &in); err != nil {
		t.Fatal(err)
	}
	over := in.LaunchTemplateConfigs[0].Overrides
	got := []any{in.ClientToken, in.DryRun, in.TargetCapacitySpecification.TotalTargetCapacity, over[0].InstanceType, *over[0].Priority, over[1].InstanceType}
	if diff := cmp.Diff([]any{"t", true, 3, "first", 0.5, "last"}, got); diff != "" {
		t.Errorf("decoded: -want +got\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	cases := map[string]struct{ why, key, value, code string }{
		"Unknown":      {"A parameter that is not read must not be dropped silently.", "Colour", "red", "UnknownParameter"},
		"UnknownInner": {"Nor one inside another.", "LaunchTemplateConfigs.1.Overrides.1.Colour", "red", "UnknownParameter"},
		"NoNumber":     {"A number is a number.", "TargetCapacitySpecification.TotalTargetCapacity", "many", market.InvalidParameterValue},
		"NoIndex":      {"A list is counted.", "LaunchTemplateConfigs.first.Overrides.1.InstanceType", "x", "UnknownParameter"},
		"TooDeep":      {"A plain value has no parts.", "ClientToken.1", "x", market.InvalidParameterValue},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var in fleetInput
			err, ok := decode(url.Values{c.key: {c.value}}, &in).(*market.Error)
			if !ok || err.Code != c.code {
				t.Errorf("%s=%s gave %v, want %s: %s", c.key, c.value, err, c.code, c.why)
			}
		})
	}
}

func TestLike(t *testing.T) {
	cases := map[string]struct {
		pattern, text string
		want          bool
	}{
		"Plain":    {"running", "running", true},
		"Case":     {"Running", "running", false},
		"Star":     {"amazon-eks-*-1.34-*", "amazon-eks-node-1.34-v1", true},
		"Empty":    {"*", "", true},
		"One":      {"a?c", "abc", true},
		"OneNone":  {"ab?", "ab", false},
		"Escaped":  {`a\*c`, "a*c", true},
		"Escaped2": {`a\*c`, "abc", false},
		"Rest":     {"run", "running", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := like(c.pattern, c.text); got != c.want {
				t.Errorf("%q matches %q: %t, want %t", c.pattern, c.text, got, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large&TagSpecification.1.Tag.1.Key=a")
	f.Add("LaunchTemplateConfigs=1&LaunchTemplateConfigs.member.2.Overrides.-1.Priority=x")
	f.Add("TargetCapacitySpecification..=&.=1&DryRun.true=")
	f.Add("LaunchTemplateConfigs.0.Overrides.00")
	f.Fuzz(func(t *testing.T, text string) {
		form, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		var in fleetInput
		if decode(form, &in) == nil {
			_ = in.check()
			_ = in.model()
		}
	})
}
