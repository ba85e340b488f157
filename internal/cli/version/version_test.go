package version_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/version"
)

func TestOf(t *testing.T) {
	recorded := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.9.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "fed"}, {Key: "vcs.modified", Value: "true"}},
	}
	tests := map[string]struct {
		why              string
		release, commit  string
		info             *debug.BuildInfo
		wantVer, wantRev string
		wantModified     bool
	}{
		"Linker":   {"A release is stamped by the linker.", "v1.0.0", "abc", recorded, "v1.0.0", "abc", true},
		"Recorded": {"go install records module version and commit.", "", "", recorded, "v0.9.0", "fed", true},
		"Nothing":  {"Without either it is a development build.", "", "", nil, "dev", "", false},
		"Devel":    {"The go command's name for no version is not one.", "", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "dev", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := version.Of(tc.release, tc.commit, tc.info)
			if b.Version != tc.wantVer || b.Commit != tc.wantRev || b.Modified != tc.wantModified {
				t.Errorf("%s\ngot %+v", tc.why, b)
			}
			if !strings.Contains(b.String(), tc.wantVer) {
				t.Errorf("%q does not say the version", b)
			}
		})
	}
}
