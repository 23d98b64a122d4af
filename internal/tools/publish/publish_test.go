// This file fetches the published modules with the commands that the README promises.

package main

import (
	"debug/buildinfo"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root    = "../../.." // of the repository
	library = "github.com/apportion/apportion"
	version = "v0.1.0"
)

// sources are programs on modules of ours.
var sources = map[string]string{
	"":                        "package main\n\nimport \"" + library + "/alloc\"\n\nfunc main() { _ = alloc.Reallocate }\n",
	"/checkpoint/blobstore":   "package main\n\nimport \"" + library + "/checkpoint/blobstore\"\n\nfunc main() { _ = blobstore.Open }\n",
	"/checkpoint/etcdjournal": "package main\n\nimport \"" + library + "/checkpoint/etcdjournal\"\n\nfunc main() { _ = etcdjournal.Open }\n",
}

// stranger is a machine on which nothing of ours is installed: it has a proxy, an empty module cache, and a
// folder for the commands that it installs.
type stranger struct {
	proxy, cache, bin string
}

// publish puts every module of the repository into a proxy.
func publish(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{t.TempDir(), t.TempDir(), t.TempDir()}
	folders, err := published(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, folder := range folders {
		name, err := pack(s.proxy, folder, version)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{library, library + "/checkpoint/blobstore", library + "/checkpoint/etcdjournal", library + "/examples", library + "/examples/kit", library + "/examples/kubernetes", library + "/examples/kubernetes/deploy", library + "/examples/kubernetes/victims", library + "/examples/live", library + "/examples/managertest", library + "/examples/nodeagent",
		library + "/examples/nomad", library + "/examples/nomad/strategy", library + "/examples/slurm", library + "/examples/studies", library + "/examples/yarn",
		library + "/internal/site", library + "/internal/tools", library + "/internal/world"}
	if !slices.Equal(names, want) {
		t.Errorf("published %q, want %q", names, want)
	}
	return s
}

// download makes sure that the modules that others need from elsewhere are in the module cache of this machine.
func download(t *testing.T) {
	t.Helper()
	for _, folder := range []string{root, root + "/checkpoint/blobstore", root + "/checkpoint/etcdjournal", root + "/examples", root + "/examples/kubernetes",
		root + "/examples/nomad", root + "/examples/nomad/strategy", root + "/examples/slurm", root + "/examples/yarn"} {
		cmd := exec.Command("go", "mod", "download")
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go mod download in %s: %v\n%s", folder, err, out)
		}
	}
}

// run runs the go command in a folder. What is not ours comes from the module cache of this machine.
func (s *stranger) run(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cache := goEnv(t, "GOMODCACHE")
	cmd := exec.Command("go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOBIN="+s.bin, "GOMODCACHE="+s.cache, "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOSUMDB=off", "GOWORK=off",
		"GOPROXY=file://"+s.proxy+",file://"+filepath.Join(cache, "cache", "download"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// fetched matches a command of a README that fetches a program of ours by a version, and local one that runs a program of
// the work tree, with its folder and its package.
var (
	fetched = regexp.MustCompile(`go (install|run) (` + library + `\S*)@(\S+)`)
	local   = regexp.MustCompile(`go run(?: -C (\S+))? (\.[\w./-]*\w|\.)`)
)

// commands returns what a pattern matches in the READMEs of the repository, each once, with the folder of the README that
// says it first.
func commands(t *testing.T, pattern *regexp.Regexp) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) == ".md" && entry.Name() != "CHANGELOG.md":
			text, err := os.ReadFile(path)
			for _, command := range pattern.FindAllString(string(text), -1) {
				if found[command] == "" {
					found[command] = filepath.Dir(path)
				}
			}
			return err
		}
		return nil
	})
	if err != nil || len(found) < 4 {
		t.Fatalf("%d commands: %v", len(found), err)
	}
	return found
}

// TestFetch installs the controllers, runs every command of a README that installs or runs a program of a version, and builds a
// program on the library and on each module below checkpoint: each as a stranger does once that is published.
func TestFetch(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library in a fresh module cache")
	}
	download(t)
	s := publish(t)
	lines := commands(t, fetched)
	controllers, err := filepath.Glob(root + "/examples/*/apportion-*") // of which one is read about as an image
	if err != nil || len(controllers) < 4 {
		t.Fatalf("%q, %v", controllers, err)
	}
	for _, folder := range controllers {
		lines["go install "+library+strings.TrimPrefix(folder, root)+"@latest"] = folder
	}
	for command := range lines {
		t.Run(command, func(t *testing.T) {
			words := fetched.FindStringSubmatch(command)
			out := s.run(t, t.TempDir(), strings.Fields(command)[1:]...)
			if words[1] == "run" {
				if out == "" {
					t.Error("it prints nothing")
				}
				return
			}
			program := filepath.Join(s.bin, path.Base(words[2]))
			if built, err := buildinfo.ReadFile(program); err != nil || built.Main.Version != version {
				t.Errorf("%s: %v, %v", program, built, err)
			}
			// A plugin lies in a folder of its own, and in nobody's path.
			if name := path.Base(words[2]); name != "strategy" && !strings.HasPrefix(name, "apportion") {
				t.Errorf("it is called %s, as a program of others", name)
			}
		})
	}
	t.Run("version", func(t *testing.T) {
		out, err := exec.Command(filepath.Join(s.bin, "apportion"), "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "apportion "+version+" ") {
			t.Errorf("apportion version: %v, %q", err, out)
		}
	})
	for name, source := range sources {
		t.Run("get"+name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			s.run(t, folder, "mod", "init", "example.org/stranger")
			s.run(t, folder, "get", library+name+"@"+version)
			s.run(t, folder, "build", "-o", "stranger", ".")
		})
	}
}

// TestBeforeFirstTag builds on a clone beside the module, in a workspace, as long as no version is published.
func TestBeforeFirstTag(t *testing.T) {
	if testing.Short() {
		t.Skip("builds blobstore")
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(sources["/checkpoint/blobstore"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mod", "init", "example.org/stranger"}, {"work", "init", ".", clone, clone + "/checkpoint/blobstore"}, {"build", "-o", "stranger", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestLocal looks for the program of every command of a README that runs one of the work tree: from the root of the
// repository, or from the README's own folder.
func TestLocal(t *testing.T) {
	for command, at := range commands(t, local) {
		words := local.FindStringSubmatch(command)
		is := func(folder string) bool {
			cmd := exec.Command("go", "list", "-f", "{{.Name}}", words[2])
			cmd.Dir = filepath.Join(folder, words[1])
			out, err := cmd.Output()
			return err == nil && strings.TrimSpace(string(out)) == "main"
		}
		if !is(root) && !is(at) {
			t.Errorf("%s/README.md: %s: there is no such program", at, command)
		}
	}
}

// TestReadme looks for the commands of TestFetch and TestBeforeFirstTag in the README of the repository.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"go get " + library + "@" + version, "go get " + library + "/checkpoint/blobstore@" + version,
		"go get " + library + "/checkpoint/etcdjournal@" + version,
		"go work init . ../apportion ../apportion/checkpoint/blobstore",
	} {
		if !strings.Contains(string(readme), command) {
			t.Errorf("README.md does not say %q", command)
		}
	}
}

// TestStrip takes the directives of the work tree out of a go.mod and leaves the rest, and refuses those that lead elsewhere.
func TestStrip(t *testing.T) {
	const mod = "module example.org/m\n\ngo 1.25.0\n\nrequire example.org/n v0.1.0\n"
	folder := t.TempDir()
	name := filepath.Join(folder, "go.mod")
	for replace, want := range map[string]string{"": "", "\nreplace example.org/n => ../n\n": "", "\nreplace (\n\texample.org/n => ../n\n\texample.org/o v1.0.0 => ./o\n)\n": "",
		"\nreplace example.org/n => example.org/o v1.0.0\n": "replaces example.org/n by example.org/o"} {
		if err := os.WriteFile(name, []byte(mod+replace), 0o600); err != nil {
			t.Fatal(err)
		}
		err := strip([]string{folder})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", replace, err, want)
			}
			continue
		}
		if text, readErr := os.ReadFile(name); err != nil || readErr != nil || string(text) != mod {
			t.Errorf("%s: %v, %v: %s", replace, err, readErr, text)
		}
	}
}

// TestUnpublishable says why a folder cannot be published: nothing there, and a file name that no module
// may have.
func TestUnpublishable(t *testing.T) {
	if _, err := pack(t.TempDir(), t.TempDir(), version); err == nil {
		t.Error("a folder without a go.mod was published")
	}
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "what?.go"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("module example.org/m\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pack(t.TempDir(), folder, version); err == nil || !strings.Contains(err.Error(), "what?.go") {
		t.Errorf("error %v does not name the file", err)
	}
}
