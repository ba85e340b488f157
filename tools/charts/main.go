// Command charts writes the parts of the Helm charts that the code already
// knows: the CRDs, and the roles of the controller.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/crds"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/loop"
)

//go:generate go run . ../../charts

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run ./tools/charts <folder>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := kinds()
	if err != nil {
		return err
	}
	all, err := roles(app.Specs())
	if err != nil {
		return err
	}
	all["shadow"] = loop.Rules(app.ShadowSpecs()...)
	for name, rules := range all {
		text, err := yaml.Marshal(rules)
		if err != nil {
			return err
		}
		files["karpenter/rbac/"+name+".yaml"] = append([]byte("# "+made+"\n"), text...)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const made = "Made by tools/charts from the code: `make generate`."

// kinds are the CRDs, as they are for the chart that installs them once, and as
// templates for the one that upgrades them.
func kinds() (map[string][]byte, error) {
	entries, err := crds.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		text, err := crds.Files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		template, err := templated(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		files["karpenter/crds/"+e.Name()] = text
		files["karpenter-crd/templates/"+e.Name()] = template
	}
	return files, nil
}

// templated gives a CRD the labels and annotations of the chart.
func templated(crd []byte) ([]byte, error) {
	if bytes.Contains(crd, []byte("{{")) {
		return nil, fmt.Errorf("it holds {{, which a template would read as its own")
	}
	head, rest, ok := bytes.Cut(crd, []byte("\nmetadata:\n"))
	if !ok {
		return nil, fmt.Errorf("it has no metadata")
	}
	const meta = "\nmetadata:\n  {{- include \"karpenter-crd.meta\" . | nindent 2 }}\n"
	return bytes.Join([][]byte{head, rest}, []byte(meta)), nil
}

// roles are the rules of each role, by name: what is done to classes, what is
// done to everything else, and what administrators of the cluster may do.
func roles(specs []loop.Spec) (map[string][]rbacv1.PolicyRule, error) {
	all := map[string][]rbacv1.PolicyRule{}
	for _, rule := range loop.Rules(specs...) {
		name := "core"
		if rule.APIGroups[0] == awsv1.Group {
			name = "aws"
		}
		all[name] = append(all[name], rule)
	}
	entries, err := crds.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		group, kind, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".yaml"), "_")
		verbs := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
		if kind == "nodeclaims" { // they are the controller's own; people read them and delete them
			verbs = []string{"delete", "get", "list", "watch"}
		}
		all["admin"] = append(all["admin"], rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{kind}, Verbs: verbs})
	}
	return all, nil
}
