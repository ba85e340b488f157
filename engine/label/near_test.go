package label_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
)

func TestMeant(t *testing.T) {
	offered := []string{
		"amd64", "arm64", "on-demand", "spot", "m5.large", "m5.xlarge", "c5.large", "m5a.large", "tier", "capacity-reservation-id", "instance",
	}
	tests := map[string]struct{ why, want string }{
		"arm46":    {why: "Two letters changed places.", want: "arm64"},
		"SPOT":     {why: "Capitals are a slip.", want: "spot"},
		"aarch64":  {why: "Others call it so.", want: "arm64"},
		"ondemand": {why: "A letter is left out.", want: "on-demand"},
		"arm32":    {why: "Two letters of five make another thing.", want: ""},
		"m5.larg":  {why: "The nearest is meant, although others are near.", want: "m5.large"},
		"m5.lrge":  {why: "The same.", want: "m5.large"},
		"c5.large": {why: "It is there.", want: "c5.large"},
		"5.large":  {why: "Two are as near.", want: ""},
		"v":        {why: "One letter looks like nothing.", want: ""},
		"tire":     {why: "A short word, two letters changed places.", want: "tier"},
		"instnace": {why: "So in a longer one.", want: "instance"},
	}
	for value, tc := range tests {
		t.Run(value, func(t *testing.T) {
			if got := label.Meant(value, offered); got != tc.want {
				t.Errorf("%s\nMeant(%q) = %q, want %q", tc.why, value, got, tc.want)
			}
		})
	}
}
