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
