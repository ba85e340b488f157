package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

const (
	// pluginName is what kubectl looks for when it is called as kubectl tenon.
	pluginName = "kubectl-tenon"
	homepage   = "https://github.com/tenon-sh/tenon"
)

// A plugin is the manifest by which krew, kubectl's manager of plugins, installs the program.
type plugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       struct {
		Version          string    `json:"version"`
		Homepage         string    `json:"homepage"`
		ShortDescription string    `json:"shortDescription"`
		Description      string    `json:"description"`
		Platforms        []archive `json:"platforms"`
	} `json:"spec"`
}

// An archive has the program for one system.
type archive struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

// archive writes the program for a target as krew unpacks it, with the licence.
func (r release) archive(t target, program []byte) (archive, error) {
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return archive{}, err
	}
	i := image{release: r}
	_, packed, err := i.pack([]file{{"LICENSE", 0o644, licence}, {pluginName, 0o755, program}})
	if err != nil {
		return archive{}, err
	}
	name := fmt.Sprintf("%s-%s-%s.tar.gz", pluginName, t.OS, t.Arch)
	a := archive{URI: homepage + "/releases/download/" + r.Version + "/" + name, SHA256: digest(packed)[len("sha256:"):], Bin: pluginName}
	a.Selector.MatchLabels = map[string]string{"os": t.OS, "arch": t.Arch}
	return a, r.write(name, packed, 0o644)
}

// plugin writes the manifest of the archives.
func (r release) plugin(archives []archive) error {
	p := plugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "tenon"}}
	p.Spec.Version, p.Spec.Homepage, p.Spec.Platforms = r.Version, homepage, archives
	p.Spec.ShortDescription = "Why pods wait and nodes stay; what if; a live view"
	p.Spec.Description = `Says why a pod waits, why a node was bought and what keeps it, what would
happen if a node went or a type were sold out, and shows nodes, waiting pods and
decisions as they change (kubectl tenon top). It asks the Tenon controller of the
cluster, and where there is none it decides by itself what Tenon would do: also
beside Karpenter or Cluster Autoscaler. It changes nothing in a cluster.
`
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return r.write("tenon.krew.yaml", text, 0o644)
}
