// Command site makes a small static site of the pages of this repository: a file for each page, with the same links,
// that can be read without a server and without scripts.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run ./tools/site <folder to write to>, at the top of the repository")
		os.Exit(2)
	}
	if err := run(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// run writes the site of a repository.
func run(root, out string) error {
	files, err := made(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, data := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// made are the files of the site of a repository.
func made(root string) (map[string][]byte, error) {
	s := site{root: os.DirFS(root), pages: map[string]*page{}, files: map[string]bool{}}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.make()
}

// A site is what is made of a repository.
type site struct {
	root  fs.FS
	pages map[string]*page // by the name of their source
	files map[string]bool  // that pages link to, and that are no pages
}

// A chapter is a group of pages in the navigation.
type chapter struct {
	Title string
	in    string   // pages of this folder, or of the top
	first []string // in this order; the others follow by their names
}

// chapters are the navigation, from what is read first to what is looked up.
func chapters() []chapter {
	return []chapter{
		{"Start", ".", []string{"README.md"}},
		{"Guide", "docs/guide", []string{
			"getting-started.md", "playground.md", "concepts.md", "explain.md", "nodepools.md", "nodeclasses.md", "prices.md", "disruption.md",
			"install-eks.md", "upgrade.md", "migrate.md", "troubleshooting.md", "faq.md", "threat-model.md",
		}},
		{"Reference", "docs/reference", nil},
		{"About", "docs", nil},
		{"Decisions", "docs/adr", []string{"README.md"}},
	}
}

// sources are the pages of a chapter.
func (s *site) sources(c chapter) ([]string, error) {
	entries, err := fs.ReadDir(s.root, c.in)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".md") {
			out = append(out, e.Name())
		}
	}
	place := func(name string) int {
		if i := slices.Index(c.first, name); i >= 0 {
			return i
		}
		return len(c.first)
	}
	slices.SortStableFunc(out, func(a, b string) int { return place(a) - place(b) })
	for i, name := range out {
		out[i] = path.Join(c.in, name)
	}
	return out, nil
}

// read reads the pages of all chapters.
func (s *site) read() error {
	for _, c := range chapters() {
		names, err := s.sources(c)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := fs.ReadFile(s.root, name)
			if err != nil {
				return err
			}
			s.pages[name] = parse(name, text)
		}
	}
	return nil
}

// address is where a page of the repository stands in the site.
func address(source string) string {
	dir, name := path.Split(source)
	if name == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// make returns the files of the site.
func (s *site) make() (map[string][]byte, error) {
	out := map[string][]byte{"site.css": style}
	for _, p := range s.pages {
		if err := s.link(p); err != nil {
			return nil, err
		}
	}
	for _, p := range s.pages {
		nav, err := s.navigation(p)
		if err != nil {
			return nil, err
		}
		text, err := p.render(nav)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
		out[address(p.source)] = text
	}
	for len(s.files) > 0 { // a list of files names others
		some := s.files
		s.files = map[string]bool{}
		for name := range some {
			if out[name] != nil {
				continue
			}
			data, err := s.file(name)
			if err != nil {
				return nil, err
			}
			out[name] = data
		}
	}
	return out, nil
}
