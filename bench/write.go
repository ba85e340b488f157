package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeFiles writes the worlds and the catalogue as tenon plan reads them.
func (o *options) writeFiles() error {
	worlds, err := o.worlds()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.write, 0o755); err != nil {
		return err
	}
	for _, w := range worlds {
		in, catalog, err := w.build()
		if err != nil {
			return err
		}
		name := filepath.Join(o.write, fmt.Sprintf("%s-%d-%d.json", w.Scenario, w.Pods, w.Seed))
		if err := writeLines(name, in.Objects()); err != nil {
			return err
		}
		if err := writeLines(filepath.Join(o.write, "catalog.json"), []any{file(catalog)}); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}

// writeLines writes each object on a line.
func writeLines(name string, objects []any) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for _, o := range objects {
		if err := lines.Encode(o); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.Flush()
}
