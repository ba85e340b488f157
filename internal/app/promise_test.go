package app

import (
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

func TestSince(t *testing.T) {
	tests := map[string]struct {
		why  string
		info version.Info
		want bool
	}{
		"Same":    {"The first that has it has it.", version.Info{Major: "1", Minor: "35"}, true},
		"Older":   {"", version.Info{Major: "1", Minor: "34"}, false},
		"Cloud":   {"EKS writes a plus behind the number.", version.Info{Major: "1", Minor: "36+"}, true},
		"Next":    {"A new major version has all of the last.", version.Info{Major: "2", Minor: "0"}, true},
		"Unknown": {"What cannot be read is taken for old.", version.Info{Major: "1", Minor: "x"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := since(&tc.info, 35); got != tc.want {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.why)
			}
		})
	}
}
