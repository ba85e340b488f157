package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
)

// row is one line of a source table. Its methods remember the first cell that
// could not be read.
type row struct {
	cells map[string]string
	err   *error
}

// readTable reads a comma-separated file with a header.
func readTable(dir, name string, each func(row)) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 {
		return fmt.Errorf("%s: empty", name)
	}
	for n, line := range lines[1:] {
		cells := make(map[string]string, len(line))
		for i, cell := range line {
			cells[lines[0][i]] = cell
		}
		var bad error
		each(row{cells, &bad})
		if bad != nil {
			return fmt.Errorf("%s line %d: %w", name, n+2, bad)
		}
	}
	return nil
}

func (r row) text(column string) string {
	v, ok := r.cells[column]
	if !ok && *r.err == nil {
		*r.err = fmt.Errorf("no column %s", column)
	}
	return v
}

func (r row) list(column string) []string {
	if s := r.text(column); s != "" {
		return strings.Split(s, "|")
	}
	return nil
}

func (r row) flag(column string) bool { return r.text(column) == "true" }

func (r row) number(column string) int { return int(r.scaled(column, 1)) }

// price reads an amount of money; a blank cell is none.
func (r row) price(column string) money.Micro {
	s := r.text(column)
	if s == "" {
		return 0
	}
	p, ok := money.Parse(s)
	if !ok && *r.err == nil {
		*r.err = fmt.Errorf("%s: %q is no price", column, s)
	}
	return p
}

// scaled reads a decimal number times scale, rounded; a blank cell is zero.
func (r row) scaled(column string, scale float64) int64 {
	s := r.text(column)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && *r.err == nil {
		*r.err = fmt.Errorf("%s: %w", column, err)
	}
	return int64(math.Round(v * scale))
}
