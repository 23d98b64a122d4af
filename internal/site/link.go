// This file turns the links of the repository into those of the site.

package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Where the sources are to be read, and the documentation of packages.
const (
	sources  = "https://github.com/apportion/apportion/"
	packages = "https://pkg.go.dev/github.com/apportion/apportion/"
)

// linker changes the links of one page.
type linker struct {
	site *site
	page *page
	err  error
}

func (l *linker) transformer() util.PrioritizedValue { return util.Prioritized(l, 100) }

var _ parser.ASTTransformer = (*linker)(nil)

func (l *linker) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = l.target(n.Destination)
		case *ast.Image:
			n.Destination = l.target(n.Destination)
		}
		return ast.WalkContinue, nil
	})
}

// target is where a link of the page leads in the site.
func (l *linker) target(destination []byte) []byte {
	to, err := l.site.resolve(l.page, string(destination))
	l.err = errors.Join(l.err, err)
	return []byte(to)
}

// resolve returns where a link of a page leads. A link is as in the repository, relative to the text or, with a slash at its
// beginning, to the root.
func (s *site) resolve(p *page, link string) (string, error) {
	if strings.Contains(link, ":") || strings.HasPrefix(link, "#") {
		return link, nil
	}
	link, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	name := path.Join(path.Dir(p.source), link)
	if strings.HasPrefix(link, "/") {
		name = path.Clean(link[1:])
	}
	if name == "playground" { // which is no text
		return relative(p, "playground/index.html"), nil
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	if info.IsDir() && s.by[name+"/README.md"] != nil {
		name += "/README.md"
	}
	switch to := s.by[name]; {
	case to != nil:
		return relative(p, to.Path) + anchor, nil
	case path.Ext(name) == ".png" || path.Ext(name) == ".svg":
		s.files[name] = true
		return relative(p, "files/"+name), nil
	case info.IsDir() && s.isPackage(name):
		return packages + name, nil
	case info.IsDir():
		return sources + "tree/main/" + name, nil
	}
	return sources + "blob/main/" + name + anchor, nil
}

// isPackage reports whether a folder is a package that others import.
func (s *site) isPackage(name string) bool {
	_, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name), "doc.go"))
	return err == nil && !strings.HasPrefix(name, "examples/") && !strings.Contains("/"+name+"/", "/internal/")
}

// relative is the way from a page to a file of the site.
func relative(from *page, to string) string {
	way, err := filepath.Rel(path.Dir(from.Path), to)
	if err != nil {
		panic(fmt.Sprintf("from %s to %s: %v", from.Path, to, err)) // both are relative
	}
	return filepath.ToSlash(way)
}
