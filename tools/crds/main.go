// Command crds adds to the generated CRDs what markers in the types cannot say: rules made from lists of labels, checks
// of types that are not ours, one schema inside another.
//
//	crds DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crds DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	kinds := map[string]*apiextensions.CustomResourceDefinition{}
	for _, file := range files {
		crd, err := read(file)
		if err != nil {
			return err
		}
		kinds[crd.Spec.Names.Kind] = crd
	}
	if err := finish(kinds); err != nil {
		return err
	}
	for _, file := range files {
		crd, err := read(file)
		if err != nil {
			return err
		}
		if err := write(file, kinds[crd.Spec.Names.Kind]); err != nil {
			return err
		}
	}
	return nil
}

func read(file string) (*apiextensions.CustomResourceDefinition, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return crd, nil
}

// write leaves out the status, which is the API server's.
func write(file string, crd *apiextensions.CustomResourceDefinition) error {
	text, err := yaml.Marshal(struct {
		APIVersion string                                     `json:"apiVersion"`
		Kind       string                                     `json:"kind"`
		Metadata   map[string]string                          `json:"metadata"`
		Spec       apiextensions.CustomResourceDefinitionSpec `json:"spec"`
	}{crd.APIVersion, crd.Kind, map[string]string{"name": crd.Name}, crd.Spec})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, append([]byte("---\n"), text...), 0o644)
}
