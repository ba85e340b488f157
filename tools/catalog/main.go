// Command catalog makes the bundled catalogue of EC2 instance types, and the table its consumers are tested against, from source tables.
//
//	go run ./tools/catalog -from <folder> [-catalog file] [-golden file]
//
// The source tables are comma-separated files gathered by hand; they are not
// part of the project, and nothing but this command reads them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-sh/tenon/internal/catalog"
)

func main() {
	from := flag.String("from", "", "folder of the source tables")
	to := flag.String("catalog", "internal/catalog/catalog.bin", "where to write the catalogue")
	goldenTo := flag.String("golden", "internal/aws/types/testdata/golden.csv", "where to write the table of what nodes of each type are expected to offer")
	flag.Parse()
	if err := run(*from, *to, *goldenTo); err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

func run(from, to, goldenTo string) error {
	if from == "" {
		return fmt.Errorf("-from is missing: name the folder of the source tables")
	}
	types, err := readTypes(from)
	if err != nil {
		return err
	}
	regions, err := readRegions(from, types)
	if err != nil {
		return err
	}
	file, err := catalog.Encode(types, regions)
	if err != nil {
		return err
	}
	if _, err := catalog.Decode(file); err != nil {
		return fmt.Errorf("what was written cannot be read again: %w", err)
	}
	if err := write(to, file); err != nil {
		return err
	}
	fmt.Printf("%s: %d types, %d regions, %d bytes\n", to, len(types), len(regions), len(file))
	expected, err := golden(from)
	if err != nil {
		return err
	}
	return write(goldenTo, expected)
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
