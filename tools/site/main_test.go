package main

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Every link of every page leads to a file of the site and, where it names one, to a heading of it.
func TestLinks(t *testing.T) {
	s, err := made("../..")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]bool{}
	for name, text := range s {
		ids[name] = map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllSubmatch(text, -1) {
			ids[name][string(m[1])] = true
		}
	}
	links, pages := 0, 0
	for name, text := range s {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		pages++
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllSubmatch(text, -1) {
			u, err := url.Parse(string(m[1]))
			if err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
				continue
			}
			if u.Scheme != "" || u.Host != "" {
				continue
			}
			links++
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			switch {
			case s[to] == nil:
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
			case u.Fragment != "" && !ids[to][u.Fragment]:
				t.Errorf("%s: %s has no heading %q", name, to, u.Fragment)
			}
		}
		if strings.Contains(string(text), "<script") {
			t.Errorf("%s has a script", name)
		}
	}
	if pages < 20 || links < 20*pages {
		t.Errorf("%d links of %d pages were looked at", links, pages)
	}
}

// A link that leads nowhere is no site.
func TestBrokenLink(t *testing.T) {
	s := site{pages: map[string]*page{}, files: map[string]bool{}, root: fstest.MapFS{
		"README.md": {Data: []byte("# Top\n\n[x](docs/guide/none.md)\n")}, "docs/guide/a.md": {}, "docs/adr/README.md": {}, "docs/reference/a.md": {},
	}}
	if err := s.read(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.make(); err == nil || !strings.Contains(err.Error(), "README.md: the link to docs/guide/none.md leads nowhere") {
		t.Errorf("got %v", err)
	}
}
