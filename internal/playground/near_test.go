package playground

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command finds the playground of the folder that it is typed in, or of one above.
func TestWhichPlaygroundIsMeant(t *testing.T) {
	home := t.TempDir()
	inside := filepath.Join(home, DefaultDir, "document")
	for _, dir := range []string{inside, filepath.Join(home, "docs", "guide")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(Dir(filepath.Join(home, DefaultDir)).lock(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		why, in, dir, want string
	}{
		"Here":  {"The playground of this folder,", home, DefaultDir, DefaultDir},
		"In":    {"or that whose document is followed here,", inside, DefaultDir, filepath.Join(home, DefaultDir)},
		"Below": {"or of the nearest folder above.", filepath.Join(home, "docs", "guide"), DefaultDir, filepath.Join(home, DefaultDir)},
		"Named": {"One that is named is meant.", inside, "other", "other"},
		"None":  {"Where there is none, it is said of this folder.", t.TempDir(), DefaultDir, DefaultDir},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(tc.in)
			if got := near(tc.dir); string(got) != tc.want {
				t.Errorf("%s\n%s, want %s", tc.why, got, tc.want)
			}
		})
	}
}

// What a reader says beside the number of a document is done or refused, not passed over.
func TestFlagsBesideADocument(t *testing.T) {
	tests := map[string]struct {
		why, said string
		detached  bool
		want      string // of the region, or of the error
	}{
		"Nothing":  {"The document's own region.", "", true, "cn-north-1"},
		"Detached": {"It may be typed in another folder.", "region", true, "eu-central-1"},
		"Told":     {"A story that is told expects its region.", "region", false, "--region: the story of the document expects cn-north-1"},
		"Nodes":    {"What is there is the document's to say.", "managed-nodes", true, "--managed-nodes: --document says itself what is there"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, given := Options{Region: "cn-north-1"}, Options{Region: "eu-central-1"}
			err := o.vary(func(flag string) bool { return flag == tc.said }, given, tc.detached)
			got := o.Region
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\n%s, want %s", tc.why, got, tc.want)
			}
		})
	}
}
