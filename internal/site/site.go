// This file reads the pages, puts what they include into them, and writes them as HTML.

package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

// web holds the layout, the style sheet and the script.
//
//go:embed web
var web embed.FS

// home is the folder of the site's own pages, from the root of the repository.
const home = "internal/site/pages"

// group is a part of the navigation.
type group struct {
	Title string
	Pages []*page
}

// groups are the site's own pages, in the order of reading. A guide is a text of the repository.
var groups = []struct {
	title string
	pages []string
}{
	{"", []string{"index.md"}},
	{"Begin", []string{"tutorials/scheduler.md", "tutorials/plugin.md", "tutorials/operator.md", "tutorials/researcher.md", "tutorials/benchmark.md", "tutorials/contributor.md"}},
	{"Understand", []string{"concepts/shares.md", "concepts/decisions.md", "concepts/bounds.md", "concepts/admission.md", "concepts/place.md", "concepts/adjustment.md"}},
	{"Recipes", []string{"recipes/power.md", "recipes/accelerators.md", "recipes/deadlines.md", "recipes/spot.md"}},
	{"Judge", []string{"performance.md", "usefulness.md", "limits.md", "compare.md"}},
	{"Look up", []string{"packages.md", "guides.md"}},
}

type page struct {
	Title string
	Path  string        // in the site, as tutorials/plugin.html
	Body  template.HTML // without the layout

	source string // from the root of the repository, as README.md
	text   string // in Markdown
}

type site struct {
	root   string
	pages  []*page
	groups []group
	guides []*page
	by     map[string]*page // by source
	files  map[string]bool  // what pages show of the repository, as pictures, from its root
}

// read reads a repository and makes all pages of it.
func read(root string) (*site, error) {
	s := &site{root: root, by: make(map[string]*page), files: make(map[string]bool)}
	for _, g := range groups {
		var pages []*page
		for _, name := range g.pages {
			pages = append(pages, s.add(home+"/"+name, strings.TrimSuffix(name, ".md")+".html"))
		}
		s.groups = append(s.groups, group{g.title, pages})
	}
	texts, err := s.texts()
	if err != nil {
		return nil, err
	}
	for _, name := range texts {
		place := strings.TrimSuffix(name, ".md")
		if path.Base(place) == "README" {
			place = path.Join(path.Dir(place), "index")
		}
		s.guides = append(s.guides, s.add(name, "guides/"+strings.ToLower(place)+".html"))
	}
	for _, p := range s.pages {
		if err := s.load(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
	}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
	}
	return s, nil
}

func (s *site) add(source, place string) *page {
	p := &page{source: source, Path: place}
	s.pages = append(s.pages, p)
	s.by[source] = p
	return p
}

// texts lists the texts of the repository beside the site's own pages, from its root.
func (s *site) texts() (names []string, err error) {
	err = filepath.WalkDir(s.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.root, name)
		rel = filepath.ToSlash(rel)
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && rel != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "out", "dist"}, base) || rel == home):
			return fs.SkipDir
		case strings.HasSuffix(base, ".md"):
			names = append(names, rel)
		}
		return nil
	})
	return names, err
}

// load reads the text of a page and its title, which is its first line.
func (s *site) load(p *page) error {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(p.source)))
	if err != nil {
		return err
	}
	p.text = string(text)
	title, _, _ := strings.Cut(p.text, "\n")
	if !strings.HasPrefix(title, "# ") {
		return errors.New("it has no title in its first line")
	}
	p.Title = strings.Trim(title[2:], "`")
	return nil
}

// own reports whether a page was written for the site.
func (p *page) own() bool { return strings.HasPrefix(p.source, home+"/") }

// render makes HTML of the text of a page.
func (s *site) render(p *page) error {
	text := p.text
	if p.own() {
		var err error
		if text, err = s.expand(p); err != nil {
			return err
		}
	}
	links := &linker{site: s, page: p}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(links.transformer())))
	var body bytes.Buffer
	if err := errors.Join(markdown.Convert([]byte(text), &body), links.err); err != nil {
		return err
	}
	// What is wider than a phone scrolls on its own, by keyboard too.
	p.Body = template.HTML(strings.NewReplacer(
		"<pre>", `<pre tabindex="0">`,
		"<table>", `<div class="wide" role="region" aria-label="table" tabindex="0"><table>`, "</table>", "</table></div>",
	).Replace(body.String()))
	return nil
}

// write writes the pages and what they need into a folder.
func (s *site) write(out string) error {
	layout, err := template.ParseFS(web, "web/layout.html")
	if err != nil {
		return err
	}
	for _, p := range s.pages {
		var text bytes.Buffer
		data := struct {
			*page
			Groups []group
			Root   string
		}{p, s.groups, strings.Repeat("../", strings.Count(p.Path, "/"))}
		if err := errors.Join(layout.Execute(&text, data), put(out, p.Path, text.Bytes())); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "site.js"} {
		text, err := web.ReadFile("web/" + name)
		if err := errors.Join(err, put(out, name, text)); err != nil {
			return err
		}
	}
	for name := range s.files {
		data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err := errors.Join(err, put(out, "files/"+name, data)); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file of the site.
func put(out, name string, data []byte) error {
	name = filepath.Join(out, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644))
}

// addPlayground builds the playground into a folder of the site.
func addPlayground(ctx context.Context, root, out string) error {
	folder, err := filepath.Abs(filepath.Join(out, "playground"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./playground", "-command", "apportion", "-out", folder)
	cmd.Dir = filepath.Join(root, "examples")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("playground: %w\n%s", err, text)
	}
	return nil
}
