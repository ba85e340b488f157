package main

import (
	"os"
	"path/filepath"
	"regexp"
)

// target is a fuzz target.
type target struct{ path, name string }

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// targets are all fuzz targets of the packages. A file that cannot be read has none; go test says why.
func targets(packages []pack) []target {
	var out []target
	for _, p := range packages {
		for _, file := range p.tests {
			source, err := os.ReadFile(filepath.Join(p.dir, file)) //nolint:gosec // go list names it
			if err != nil {
				continue
			}
			for _, m := range declared.FindAllSubmatch(source, -1) {
				out = append(out, target{p.path, string(m[1])})
			}
		}
	}
	return out
}
