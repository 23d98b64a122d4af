// This file puts into pages what they include: code with the test that runs it, what that prints, and parts of other texts.

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

// include is what the page in hand can call.
type include struct {
	site *site
	page *page
}

func (s *site) expand(p *page) (string, error) {
	in := &include{s, p}
	t, err := template.New(p.source).Funcs(template.FuncMap{
		"go": in.code, "example": in.example, "output": in.output, "readme": in.block, "section": in.section, "picture": in.picture,
		"figure": in.figure, "script": in.script, "record": in.record, "guides": in.guides,
	}).Parse(p.text)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if err := t.Execute(&text, nil); err != nil {
		return "", err
	}
	return text.String(), nil
}

// text reads a file of the repository.
func (in *include) text(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(in.site.root, filepath.FromSlash(name)))
	return string(text), err
}

// fence is a block of code.
func fence(language, text string) string {
	return "```" + language + "\n" + strings.Trim(text, "\n") + "\n```\n"
}

// code shows functions and types of a Go file, or all of it. The file must be a test, or have one beside it.
func (in *include) code(name string, declared ...string) (string, error) {
	text, err := in.text(name)
	if err != nil {
		return "", err
	}
	tests, err := filepath.Glob(filepath.Join(in.site.root, path.Dir(name), "*_test.go"))
	if err != nil || len(tests) == 0 {
		return "", fmt.Errorf("no test is beside %s, %w", name, err)
	}
	if len(declared) == 0 {
		return fence("go", text), nil
	}
	var parts []string
	for _, d := range declared {
		part, err := declaration(text, d)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, part)
	}
	return fence("go", strings.Join(parts, "\n\n")), nil
}

// find returns the declaration of a function, a method without its type, or a type.
func find(text, name string) (file *token.File, node ast.Decl, doc *ast.CommentGroup, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return set.File(d.Pos()), d, d.Doc, nil
			}
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && spec.Name.Name == name {
				return set.File(d.Pos()), d, d.Doc, nil
			}
		}
	}
	return nil, nil, nil, fmt.Errorf("it declares no %s", name)
}

func declaration(text, name string) (string, error) {
	file, node, doc, err := find(text, name)
	if err != nil {
		return "", err
	}
	begin := node.Pos()
	if doc != nil {
		begin = doc.Pos()
	}
	return text[file.Offset(begin):file.Offset(node.End())], nil
}

// printed opens the comment in which an example says what it prints.
const printed = "// Output:"

// example shows the body of an example and, below it, what it prints, which go test compares.
func (in *include) example(name, function string) (string, error) {
	text, err := in.text(name)
	if err != nil {
		return "", err
	}
	file, node, _, err := find(text, function)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	body := node.(*ast.FuncDecl).Body
	inner := text[file.Offset(body.Lbrace)+1 : file.Offset(body.Rbrace)]
	inner = strings.ReplaceAll(inner, "\n\t", "\n")
	code, output, ok := strings.Cut(inner, printed)
	if !ok || !strings.HasSuffix(name, "_test.go") || !strings.HasPrefix(function, "Example") {
		return "", fmt.Errorf("%s: nothing compares what %s prints", name, function)
	}
	output = strings.ReplaceAll(strings.ReplaceAll(output, "\n// ", "\n"), "\n//", "\n")
	return fence("go", code) + "\nIt prints:\n\n" + fence("text", strings.TrimPrefix(output, " ")), nil
}

// output shows the golden output of a small program, by its folder.
func (in *include) output(folder string) (string, error) {
	cases, err := filepath.Glob(filepath.Join(in.site.root, folder, "testdata", "cases", "*"))
	if err != nil || len(cases) != 1 {
		return "", fmt.Errorf("%s has %d golden cases, %w", folder, len(cases), err)
	}
	text, err := os.ReadFile(cases[0])
	if err != nil {
		return "", err
	}
	_, output, ok := strings.Cut(string(text), "----\n")
	output, _, _ = strings.Cut(strings.TrimPrefix(output, "----\n"), "\n----\n")
	if !ok || strings.TrimSpace(output) == "" {
		return "", errors.New("it prints nothing")
	}
	return fence("text", output), nil
}

// block shows a block of a language of a README, counted from 1. A test beside the README reads it, to run what it says.
func (in *include) block(name, language string, number int) (string, error) {
	text, err := in.text(name)
	if err != nil {
		return "", err
	}
	if !in.tested(name) {
		return "", fmt.Errorf("no test beside %s reads it", name)
	}
	found := regexp.MustCompile("(?ms)^( *)```"+language+"\n(.*?)\n *```$").FindAllStringSubmatch(text, -1)
	if number < 1 || number > len(found) {
		return "", fmt.Errorf("%s has %d blocks of %s", name, len(found), language)
	}
	match := found[number-1]
	return fence(language, strings.ReplaceAll("\n"+match[2], "\n"+match[1], "\n")), nil
}

// tested reports whether a test beside a text, or in the folder above, in Go or in Python, names it.
func (in *include) tested(name string) bool {
	for _, folder := range []string{path.Dir(name), path.Dir(path.Dir(name))} {
		relative := strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
		for _, pattern := range []string{"*_test.go", "test_*.py"} {
			tests, _ := filepath.Glob(filepath.Join(in.site.root, folder, pattern))
			for _, test := range tests {
				if text, err := os.ReadFile(test); err == nil && strings.Contains(string(text), `"`+relative+`"`) {
					return true
				}
			}
		}
	}
	return false
}

// script shows a program in Python that a test in the folder above runs with all others of its folder.
func (in *include) script(name string) (string, error) {
	if !in.tested(path.Dir(name)) {
		return "", fmt.Errorf("no test runs what is in %s", path.Dir(name))
	}
	text, err := in.text(name)
	return fence("python", text), err
}

// reference matches what a link of Markdown leads to.
var reference = regexp.MustCompile(`\]\(([^):\s]+)\)`)

// section shows a part of another text, without its heading.
func (in *include) section(name, heading string) (string, error) {
	text, err := in.text(name)
	if err != nil {
		return "", err
	}
	_, part, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		return "", fmt.Errorf("%s has no part %q", name, heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	// Links lead from the root of the repository now.
	return reference.ReplaceAllStringFunc(part, func(link string) string {
		to := reference.FindStringSubmatch(link)[1]
		if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "/") {
			return link
		}
		return "](/" + path.Join(path.Dir(name), to) + ")"
	}), nil
}

// figure shows a picture of the repository.
func (in *include) figure(name, says string) string { return "![" + says + "](/" + name + ")\n" }

// record shows what a command has printed on the machine that measured.
func (in *include) record(name string) (string, error) {
	text, err := in.text(name)
	return fence("text", text), err
}

// guides lists the texts of the repository.
func (in *include) guides() string {
	var list strings.Builder
	for _, p := range in.site.guides {
		fmt.Fprintf(&list, "- [%s](/%s): `%s`\n", strings.ReplaceAll(p.Title, "`", ""), p.source, p.source)
	}
	return list.String()
}
