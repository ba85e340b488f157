package label_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
)

func TestMeant(t *testing.T) {
	offered := []string{"amd64", "arm64", "on-demand", "spot"}
	tests := map[string]struct{ why, want string }{
		"arm46":    {why: "Two letters changed places.", want: "arm64"},
		"SPOT":     {why: "Capitals are a slip.", want: "spot"},
		"aarch64":  {why: "Others call it so.", want: "arm64"},
		"ondemand": {why: "A letter is left out.", want: "on-demand"},
		"arm32":    {why: "That is another thing.", want: ""},
	}
	for value, tc := range tests {
		t.Run(value, func(t *testing.T) {
			if got := label.Meant(value, offered); got != tc.want {
				t.Errorf("%s\nMeant(%q) = %q, want %q", tc.why, value, got, tc.want)
			}
		})
	}
}
