// This file tests rules on small trees that are made for one of them, at the edges of what it refuses.

package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkTree holds a planted tree to the rules and compares what is found.
func checkTree(t *testing.T, name string, planted map[string]string, want ...string) {
	t.Helper()
	findings, err := Check(tree(planted))
	if diff := cmp.Diff(want, texts(findings)); diff != "" || err != nil {
		t.Errorf("%s: error %v, findings (-want +got):\n%s", name, err, diff)
	}
}

// What an importer of alloc must not get is found however far down it is, once for each import, and only on the
// way from alloc.
func TestApart(t *testing.T) {
	const head = "import _ \"github.com/apportion/apportion/alloc/"
	pack := func(name string, imports ...string) string {
		text := "// Package " + name + " is one.\npackage " + name + "\n\n"
		for _, path := range imports {
			text += head + path + "\"\n"
		}
		return text
	}
	refused := func(place, path string) string {
		return place + ": imports github.com/apportion/apportion/alloc/" + path + ", which an importer of alloc must not get"
	}
	for name, test := range map[string]struct {
		planted map[string]string
		want    []string
	}{
		"at once":          {map[string]string{"alloc/a.go": pack("alloc", "mip")}, []string{refused("alloc/a.go:4", "mip")}},
		"below what never": {map[string]string{"alloc/a.go": pack("alloc", "milp/ortools")}, []string{refused("alloc/a.go:4", "milp/ortools")}},
		"like it":          {map[string]string{"alloc/a.go": pack("alloc", "mipmap"), "alloc/mipmap/m.go": pack("mipmap")}, nil},
		"three down": {map[string]string{"alloc/a.go": pack("alloc", "b"), "alloc/b/b.go": pack("b", "c"), "alloc/c/c.go": pack("c", "d"), "alloc/d/d.go": pack("d", "mip")},
			[]string{refused("alloc/d/d.go:4", "mip")}},
		"by two ways": {map[string]string{"alloc/a.go": pack("alloc", "b", "c"), "alloc/b/b.go": pack("b", "d"), "alloc/c/c.go": pack("c", "d"), "alloc/d/d.go": pack("d", "mip")},
			[]string{refused("alloc/d/d.go:4", "mip")}},
		"in a circle": {map[string]string{"alloc/a.go": pack("alloc", "b"), "alloc/b/b.go": pack("b", "c"), "alloc/c/c.go": pack("c", "b")}, nil},
		"beside it":   {map[string]string{"alloc/a.go": pack("alloc"), "alloc/b/b.go": pack("b", "mip")}, nil},
		"a module of its own": {map[string]string{"alloc/a.go": pack("alloc", "b"), "alloc/b/go.mod": "module b\n", "alloc/b/b.go": pack("b", "mip")},
			nil},
	} {
		checkTree(t, name, test.planted, test.want...)
	}
}

// Limits are those of CONTRIBUTING.md: one less is fine, and receivers, results and comments do not count.
func TestLimits(t *testing.T) {
	drf := func(code string) map[string]string {
		return map[string]string{"drf/planted.go": "package drf\n\n" + code + "\n"}
	}
	body := strings.Repeat("\t_ = 1\n", maxLines-2)
	for name, test := range map[string]struct {
		code string
		want []string
	}{
		"five parameters":            {"func f(a, b, c int, d, e string) {}", nil},
		"five and a receiver":        {"type t int\n\nfunc (t) f(a, b, c int, d, e string) {}", nil},
		"five and three results":     {"func f(a, b, c int, d, e string) (x, y, z int) { return }", nil},
		"six without names":          {"func f(int, int, int, int, int, string) {}", []string{"drf/planted.go:3: f takes 6 parameters, more than 5"}},
		"variadic as the sixth":      {"func f(a, b, c, d, e int, more ...int) {}", []string{"drf/planted.go:3: f takes 6 parameters, more than 5"}},
		"a literal may have more":    {"var f = func(a, b, c, d, e, g int) {}", nil},
		"comments above do not":      {strings.Repeat("// above\n", 30) + "func f() {\n" + body + "}", nil},
		"signature on several lines": {"func f(\n\ta int,\n) {\n" + body + "}", []string{fmt.Sprintf("drf/planted.go:3: f is %d lines long, more than %d", maxLines+2, maxLines)}},
	} {
		checkTree(t, name, drf(test.code), test.want...)
	}
}

// What is exported has a comment of its own or, for constants and variables, one over its group.
func TestDocumented(t *testing.T) {
	for name, test := range map[string]struct {
		code string
		want []string
	}{
		"comment behind a constant":      {"const A = 1 // A is one.", nil},
		"comment over a group":           {"// Both.\nconst (\n\tA = 1\n\tB = 2\n)", nil},
		"one of a group without":         {"const (\n\t// A is one.\n\tA = 1\n\tB = 2\n)", []string{"drf/planted.go:6: exported B has no comment"}},
		"unexported ones need none":      {"const a = 1\n\nvar b int\n\ntype c int\n\nfunc d() {}", nil},
		"two names on a line, one fault": {"var A, B int", []string{"drf/planted.go:3: exported A has no comment"}},
		"types of a group, each":         {"// Both.\ntype (\n\t// A is.\n\tA int\n\tB int\n)", []string{"drf/planted.go:7: exported type B has no comment"}},
		"a single type":                  {"// A is.\ntype A int", nil},
		"fields and methods of types":    {"// A is.\ntype A struct{ B int }\n\n// C is.\ntype C interface{ D() }", nil},
		"a method of nothing exported":   {"type a int\n\nfunc (*a) B() {}", nil},
		"a comment with a gap is none":   {"// A is.\n\nfunc A() {}", []string{"drf/planted.go:5: exported A has no comment"}},
	} {
		checkTree(t, name, map[string]string{"drf/planted.go": "package drf\n\n" + test.code + "\n"}, test.want...)
	}
	checkTree(t, "a command", map[string]string{"internal/run/main.go": "// Run runs.\npackage main\n\nfunc A() {}\n\ntype B int\n"})
}

// A package is documented by any of its files, also by a test, and told of once.
func TestPackageComments(t *testing.T) {
	const with, without = "// Package new is.\npackage new\n", "package new\n"
	for name, test := range map[string]struct {
		files []string // texts of a.go, b.go and c_test.go
		want  []string
	}{
		"in the second file": {[]string{without, with, without}, nil},
		"in a test":          {[]string{without, without, with}, nil},
		"nowhere":            {[]string{without, without, without}, []string{"internal/new/a.go:1: package new has no comment"}},
		"tests alone":        {[]string{"", "", without}, nil},
	} {
		planted := map[string]string{}
		for i, file := range []string{"a.go", "b.go", "c_test.go"} {
			if test.files[i] != "" {
				planted["internal/new/"+file] = test.files[i]
			}
		}
		checkTree(t, name, planted, test.want...)
	}
}
