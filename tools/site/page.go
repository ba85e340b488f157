package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed site.css
var style []byte

//go:embed page.html
var layout string

// A page is one of the repository.
type page struct {
	source string
	text   []byte
	tree   ast.Node
	title  string
}

// markdown reads pages as the places do where most people will read them.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

func parse(source string, data []byte) *page {
	p := &page{source: source, text: data, tree: markdown().Parser().Parse(text.NewReader(data)), title: path.Base(source)}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
			p.title = plain(h, data)
			break
		}
	}
	return p
}

// plain is a node without its form.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// link makes the links of a page lead to the pages of the site, and notes the files that they lead to.
func (s *site) link(p *page) error {
	return ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = s.target(p, string(n.Destination))
		case *ast.Image:
			n.Destination, err = s.target(p, string(n.Destination))
		}
		return ast.WalkContinue, err
	})
}

// target is where a link of a page leads to in the site.
func (s *site) target(p *page, to string) ([]byte, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, fmt.Errorf("%s: link to %s: %w", p.source, to, err)
	}
	if u.Scheme != "" || u.Host != "" || u.Path == "" {
		return []byte(to), nil
	}
	name := path.Join(path.Dir(p.source), u.Path)
	if _, ok := s.pages[name]; ok {
		name = address(name)
	} else {
		info, err := fs.Stat(s.root, name)
		if err != nil {
			return nil, fmt.Errorf("%s: the link to %s leads nowhere", p.source, to)
		}
		if info.IsDir() {
			name = path.Join(name, "index.html")
		}
		if s.pages[strings.TrimSuffix(name, "index.html")+"README.md"] == nil {
			s.files[name] = true
		}
	}
	short, err := filepath.Rel(path.Dir(address(p.source)), name)
	if err != nil {
		return nil, err
	}
	u.Path = filepath.ToSlash(short)
	return []byte(u.String()), nil
}

// file is a file that a page links to as it is, or the list of a folder's.
func (s *site) file(name string) ([]byte, error) {
	if path.Base(name) != "index.html" {
		return fs.ReadFile(s.root, name)
	}
	dir := path.Dir(name)
	p := &page{source: path.Join(dir, "README.md"), text: []byte("# " + dir + "\n"), title: dir}
	err := fs.WalkDir(s.root, dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		short := strings.TrimPrefix(file, dir+"/")
		p.text = append(p.text, "* ["+short+"]("+short+")\n"...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p = parse(p.source, p.text)
	if err := s.link(p); err != nil {
		return nil, err
	}
	nav, err := s.navigation(p)
	if err != nil {
		return nil, err
	}
	return p.render(nav)
}

// An entry is a line of the navigation.
type entry struct {
	Title, To string
	Here      bool
}

type section struct {
	Title string
	Pages []entry
}

// navigation is what leads from a page to all others.
func (s *site) navigation(from *page) ([]section, error) {
	var out []section
	for _, c := range chapters() {
		names, err := s.sources(c)
		if err != nil {
			return nil, err
		}
		part := section{Title: c.Title}
		for _, name := range names {
			to, err := filepath.Rel(path.Dir(address(from.source)), address(name))
			if err != nil {
				return nil, err
			}
			part.Pages = append(part.Pages, entry{s.pages[name].title, filepath.ToSlash(to), name == from.source})
		}
		out = append(out, part)
	}
	return out, nil
}

// render is a page as a file of the site.
func (p *page) render(nav []section) ([]byte, error) {
	var body, out bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.text, p.tree); err != nil {
		return nil, err
	}
	top, err := filepath.Rel(path.Dir(address(p.source)), ".")
	if err != nil {
		return nil, err
	}
	// Tables may be wider than a screen.
	wide := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>").Replace(body.String())
	err = template.Must(template.New("page").Parse(layout)).Execute(&out, map[string]any{
		"Title": html.UnescapeString(p.title), "Top": filepath.ToSlash(top), "Sections": nav,
		"Body": template.HTML(wide), //nolint:gosec // our own pages
	})
	return out.Bytes(), err
}
