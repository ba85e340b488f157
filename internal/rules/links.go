package rules

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

// Map finds what ARCHITECTURE.md names that is not there, and folders of the
// engine and of internal that its picture of layers leaves out.
func Map(root string) ([]Fault, error) {
	const page = "ARCHITECTURE.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, fmt.Errorf("read the map: %w", err)
	}
	var faults []Fault
	picture, head := map[string]bool{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		for _, found := range named.FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(found[1]))); err != nil {
				faults = append(faults, Fault{page, i + 1, fmt.Sprintf("there is no %s", found[1])})
			}
		}
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
		}
	}
	return faults, nil
}
