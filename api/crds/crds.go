// Package crds holds the CRDs of the API, generated from its types: the one source of charts, playground and tests.
package crds

import "embed"

// Files are the CRDs, one a file.
//
//go:embed *.yaml
var Files embed.FS

// All returns the CRDs as YAML, sorted by file name.
func All() [][]byte {
	entries, err := Files.ReadDir(".")
	if err != nil {
		panic(err) // what is embedded can be read
	}
	var all [][]byte
	for _, e := range entries {
		text, err := Files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, text)
	}
	return all
}
