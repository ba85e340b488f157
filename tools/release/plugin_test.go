package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What krew unpacks is the program by the name that kubectl looks for, and has the checksum that the manifest says.
func TestPlugin(t *testing.T) {
	t.Chdir("../..") // the licence is there
	r := sample()
	r.Out = t.TempDir()
	var archives []archive
	for _, system := range []target{{"linux", "amd64"}, {"darwin", "arm64"}} {
		a, err := r.archive(system, []byte("a program for "+system.String()))
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, a)
	}
	if err := r.plugin(archives); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Out, "tenon.krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var p plugin
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Kind != "Plugin" || p.Metadata["name"] != "tenon" || p.Spec.Version != "v1.2.3" || len(p.Spec.Platforms) != 2 || len(p.Spec.ShortDescription) > 50 {
		t.Errorf("the manifest is\n%s", text)
	}
	for _, a := range p.Spec.Platforms {
		system := a.Selector.MatchLabels["os"] + "/" + a.Selector.MatchLabels["arch"]
		data, err := os.ReadFile(filepath.Join(r.Out, a.URI[strings.LastIndex(a.URI, "/")+1:]))
		if err != nil {
			t.Fatal(err)
		}
		if "sha256:"+a.SHA256 != digest(data) || !strings.HasPrefix(a.URI, homepage+"/releases/download/v1.2.3/") {
			t.Errorf("%s: %s has the checksum %s", system, a.URI, digest(data))
		}
		i := image{release: r}
		plain, _, err := i.pack([]file{{"LICENSE", 0o644, licence(t)}, {a.Bin, 0o755, []byte("a program for " + system)}})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		unpack(t, data, digest(plain), got)
		if got[pluginName] != "-rwxr-xr-x a program for "+system || got["LICENSE"] == "" {
			t.Errorf("%s: the archive has %q", system, got[pluginName])
		}
	}
}

func licence(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	return data
}
