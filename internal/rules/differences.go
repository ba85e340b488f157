package rules

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// differencesPage lists where we differ from Karpenter on purpose, each by a number.
const differencesPage = "docs/adr/0009-compatibility.md"

// untested are the differences that no test shows, and why.
func untested() map[string]string {
	return map[string]string{
		"D-7":  "it is one of speed alone",
		"D-17": "it is one of how code is made: the linter reassign looks for it",
	}
}

var (
	difference = regexp.MustCompile(`^\| ([DT]-[0-9]+) \|`)
	number     = regexp.MustCompile(`\b[DT]-[0-9]+\b`)
)

// Differences finds differences of that page of which no test, or scenario, names the number.
func Differences(root string) ([]Fault, error) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(differencesPage)))
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, dir := range list("engine internal") {
		if err := numbers(root, dir, shown); err != nil {
			return nil, err
		}
	}
	var faults []Fault
	for i, line := range strings.Split(string(page), "\n") {
		row := difference.FindStringSubmatch(line)
		switch {
		case row == nil:
		case !shown[row[1]] && untested()[row[1]] == "":
			faults = append(faults, Fault{differencesPage, i + 1, fmt.Sprintf("no test names %s: have the one that shows it say so", row[1])})
		case shown[row[1]] && untested()[row[1]] != "":
			faults = append(faults, Fault{differencesPage, i + 1, row[1] + " is shown by a test: take it off the list in internal/rules/differences.go"})
		}
	}
	return faults, nil
}

// numbers notes which differences the tests and scenarios below a folder name.
func numbers(root, dir string, shown map[string]bool) error {
	return filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		scenario := slices.Contains(strings.Split(filepath.ToSlash(path.Dir(name)), "/"), "scenarios")
		if !scenario && !strings.HasSuffix(name, "_test.go") || strings.Contains(filepath.ToSlash(name), "internal/rules/broken") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, n := range number.FindAllString(string(src), -1) {
			shown[n] = true
		}
		return nil
	})
}
