// This file makes releases: of this repository, twice, and of a small one whose interface changes.

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// git runs git in a folder, as somebody.
func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func contentsOf(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The same commit makes the same release: modules, a program with its version, the site, tags and notes.
func TestMake(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command in a fresh module cache, twice")
	}
	source := filepath.Join(t.TempDir(), "source")
	git(t, "", "clone", "-q", "--no-tags", root, source)
	var sums []string
	for range 2 {
		r := &release{root: source, out: filepath.Join(t.TempDir(), "out"), version: version, parts: []string{"programs", "image", "site"},
			platforms: []string{runtime.GOOS + "/" + runtime.GOARCH}, only: []string{"examples/apportion", "checkpoint/guard/apportion-guard"}, log: io.Discard}
		if err := r.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, contentsOf(t, r.out, "SHA256SUMS"))
		if len(sums) == 2 {
			continue
		}
		check := exec.Command("sha256sum", "--quiet", "-c", "SHA256SUMS")
		check.Dir = r.out
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		program := filepath.Join(r.out, "apportion_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH)
		if out, err := exec.Command(program, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "apportion "+version+" ") {
			t.Errorf("%v: %s", err, out)
		}
		if tags := contentsOf(t, r.out, "TAGS"); git(t, r.clone, "rev-parse", version) != git(t, source, "rev-parse", "HEAD") ||
			!strings.Contains(tags, " examples/nomad/strategy/"+version+"\n") || strings.Count(tags, "\n") != len(r.modules) {
			t.Errorf("tags:\n%s", tags)
		}
		if mod := git(t, r.clone, "show", "examples/"+version+":examples/go.mod"); strings.Contains(mod, "replace") {
			t.Errorf("the tag of examples has a directive of a work tree:\n%s", mod)
		}
		if notes := contentsOf(t, r.out, "NOTES.md"); !strings.Contains(notes, "No version is tagged") || !strings.Contains(notes, "### Deciding") || !strings.Contains(notes, "drf ") {
			t.Errorf("notes:\n%s", notes)
		}
		readable(t, filepath.Join(r.out, "site_"+version+".tar.gz"))
	}
	if sums[0] != sums[1] {
		t.Errorf("two releases of one commit differ:\n%s\n%s", sums[0], sums[1])
	}
}

// readable looks for the first page in an archive of the site.
func readable(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(packed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
	if !slices.Contains(names, "site/index.html") || !slices.Contains(names, "site/site.css") {
		t.Errorf("the site has %q", names)
	}
}

// small makes a repository of one module whose first version has two functions.
func small(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	git(t, folder, "init", "-q")
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.25.0\n", "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\nMuch.\n",
		"p/p.go": "// Package p is small.\npackage p\n\n// A is one.\nfunc A() {}\n\n// B is another.\nfunc B() {}\n",
	} {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, folder, "add", ".")
	git(t, folder, "commit", "-q", "-m", "first")
	git(t, folder, "tag", "v0.0.5")
	git(t, folder, "tag", "v0.1.0")
	return folder
}

// What an importer may use is compared with the last tag: a version that only repairs takes nothing away, and adds what it likes.
func TestInterface(t *testing.T) {
	for _, c := range []struct{ version, source, says, fails string }{
		{"v0.1.1", "package p\n\nfunc A() {}\n", "", "breaks what v0.1.0 has"},
		{"v0.2.0", "package p\n\nfunc A() {}\n", "B: removed", ""},
		{"v0.1.1", "package p\n\nfunc A() {}\n\nfunc B() {}\n\nfunc C() {}\n", "C: added", ""},
		{"v0.1.1", "package p\n\nfunc A(int) {}\n\nfunc B() {}\n", "", "breaks what v0.1.0 has"},
		{"v0.0.9", "package p\n", "", "is not above v0.1.0"},
		{"v0.1.0", "package p\n", "", "tagged already"},
		{"v0.2.0", "package p\n\nfunc A() { nothing() }\n", "", "undefined: nothing"},
	} {
		folder := small(t)
		if err := os.WriteFile(filepath.Join(folder, "p", "p.go"), []byte(c.source), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t, folder, "commit", "-q", "-a", "--allow-empty", "-m", "second")
		r := &release{root: folder, out: filepath.Join(t.TempDir(), "out"), version: c.version, log: io.Discard}
		err := r.make(t.Context())
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s of %q: %v, want %q", c.version, c.source, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s of %q: %v", c.version, c.source, err)
		} else if notes := contentsOf(t, r.out, "NOTES.md"); !strings.Contains(notes, c.says) || !strings.Contains(notes, "Much.") {
			t.Errorf("%s of %q: notes without %q:\n%s", c.version, c.source, c.says, notes)
		}
	}
}

// What cannot be asked is refused before anything is made.
func TestCheck(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version, out, part, want string
	}{
		{"0.1.0", "out", "", "no version"}, {"v0.1", "out", "", "no version"}, {"v0.1.0+a", "out", "", "no version"}, {"v0.1.0", "", "", "no folder"},
		{"v0.1.0", full, "", "not empty"}, {"v0.1.0", "out", "wheel", "no part"},
	} {
		r := &release{version: c.version, out: c.out, parts: []string{c.part}}
		if err := r.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSection(t *testing.T) {
	const log = "# Changelog\n\n## Unreleased\n\nnew\n\n## 0.2.0 - 2026-12-01\n\nsecond\n\n## v0.1.0\n\n### Part\n\nfirst\n"
	for version, want := range map[string]string{"v0.3.0": "new", "v0.2.0": "second", "v0.1.0": "### Part\n\nfirst"} {
		if got, err := section(log, version); err != nil || got != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	if got, err := section("# Changelog\n\n## Unreleased\n\n## v0.1.0\n\nfirst\n", "v0.2.0"); err == nil {
		t.Errorf("%q of a version of which nothing is said", got)
	}
}

// Every package that others import is said to be settled or young, once.
func TestStability(t *testing.T) {
	said := map[string]int{}
	for line := range strings.Lines(stability) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(words) != 2 || words[1] != "settled" && words[1] != "young" {
			t.Errorf("%q", line)
			continue
		}
		said[words[0]]++
	}
	for _, folder := range []string{root, root + "/checkpoint/blobstore", root + "/checkpoint/etcdjournal"} {
		cmd := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...")
		cmd.Dir = folder
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			name := strings.TrimPrefix(strings.TrimPrefix(words[1], library), "/")
			if name == "" {
				name = "apportion"
			}
			if words[0] == "main" || strings.Contains("/"+name+"/", "/internal/") {
				continue
			}
			if said[name] != 1 {
				t.Errorf("%s is said to be settled or young %d times", name, said[name])
			}
			delete(said, name)
		}
	}
	for name := range said {
		t.Errorf("%s is no package", name)
	}
}
