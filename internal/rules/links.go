package rules

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// linkFaults finds the links of a page that lead to no file of the tree.
func linkFaults(root, rel, line string, n int) []Fault {
	var faults []Fault
	for _, found := range link.FindAllStringSubmatch(line, -1) {
		to, err := url.Parse(found[1])
		if err != nil || to.Scheme != "" || to.Host != "" || to.Path == "" {
			continue // elsewhere, or within the page
		}
		target := path.Join(path.Dir(rel), to.Path)
		if strings.HasPrefix(to.Path, "/") {
			target = to.Path[1:]
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
			faults = append(faults, Fault{rel, n, fmt.Sprintf("the link to %s leads nowhere", found[1])})
		}
	}
	return faults
}

// named finds what looks like the name of a folder or of a file of the tree.
var named = regexp.MustCompile("`((?:api|bench|charts|cmd|controlplane|deploy|docs|engine|internal|test|tools|ui)/[a-z0-9/_.-]+)`")

// qualified finds what looks like an exported name of a package of the tree, such as `engine/nominate.Openings`.
var qualified = regexp.MustCompile("`((?:api|engine|internal)/[a-z0-9/]+)\\.([A-Z][A-Za-z0-9]*)")

// nameFaults finds folders, files and exported names that a page speaks of and that are not there.
func nameFaults(root, rel, line string, n int) []Fault {
	var faults []Fault
	for _, found := range named.FindAllStringSubmatch(line, -1) {
		if !exists(filepath.Join(root, filepath.FromSlash(found[1]))) && !exists(filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(rel), found[1])))) {
			faults = append(faults, Fault{rel, n, fmt.Sprintf("there is no %s", found[1])})
		}
	}
	for _, found := range qualified.FindAllStringSubmatch(line, -1) {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(found[1]), "*.go"))
		word := regexp.MustCompile(`(?m)^(?:func |type |var |const |func \([^)]*\) |\t)` + found[2] + `\b`)
		if err != nil || !slices.ContainsFunc(files, func(name string) bool {
			src, err := os.ReadFile(name)
			return err == nil && word.Match(src)
		}) {
			faults = append(faults, Fault{rel, n, fmt.Sprintf("%s has no %s", found[1], found[2])})
		}
	}
	return faults
}

// Map finds folders of the engine and of internal that the picture of layers in
// ARCHITECTURE.md leaves out, or the table of packages in engine/README.md.
func Map(root string) ([]Fault, error) {
	const page, enginePage = "ARCHITECTURE.md", "engine/README.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, fmt.Errorf("read the map: %w", err)
	}
	engine, err := os.ReadFile(filepath.Join(root, enginePage))
	if err != nil {
		return nil, fmt.Errorf("read the page of the engine: %w", err)
	}
	var faults []Fault
	picture, head := map[string]bool{}, ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			head = title
		}
		if head == "Which package may import which" {
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
				picture[word] = true
			}
		}
	}
	for _, at := range []string{"engine", "internal"} {
		folders, err := os.ReadDir(filepath.Join(root, at))
		if err != nil {
			return nil, fmt.Errorf("read the folders of %s: %w", at, err)
		}
		for _, f := range folders {
			if f.IsDir() && !picture[f.Name()] {
				faults = append(faults, Fault{page, 0, fmt.Sprintf("the picture of layers leaves out %s/%s", at, f.Name())})
			}
			if f.IsDir() && at == "engine" && !strings.Contains(string(engine), "| `"+f.Name()+"` |") {
				faults = append(faults, Fault{enginePage, 0, "the table of packages leaves out " + f.Name()})
			}
		}
	}
	return faults, nil
}
