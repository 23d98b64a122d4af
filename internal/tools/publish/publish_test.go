// This file fetches the published modules with the commands that the README promises.

package publish

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root    = "../../.." // of the repository
	library = "github.com/apportion/apportion"
	version = "v0.1.0"
)

// tools is the one module that nobody fetches.
const tools = library + "/internal/tools"

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
	var published []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		// One that only pins what a test cluster is built from is nobody's to fetch.
		case entry.Name() == "go.mod" && filepath.Base(filepath.Dir(path)) == "cluster":
			return nil
		case entry.Name() == "go.mod":
			name, err := Module(s.proxy, filepath.Dir(path), version)
			published = append(published, name)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(published)
	want := []string{library, library + "/checkpoint/blobstore", library + "/checkpoint/etcdjournal", library + "/examples/kubernetes", library + "/examples/live", library + "/examples/nodeagent",
		library + "/examples/nomad", library + "/examples/nomad/strategy", library + "/examples/studies", tools}
	if !slices.Equal(published, want) {
		t.Errorf("published %q, want %q", published, want)
	}
	return s
}

// download makes sure that the modules that others need from elsewhere are in the module cache of this machine.
func download(t *testing.T) {
	t.Helper()
	for _, folder := range []string{root, root + "/checkpoint/blobstore", root + "/checkpoint/etcdjournal"} {
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
	cmd.Env = append(os.Environ(), "GOBIN="+s.bin, "GOMODCACHE="+s.cache, "GOFLAGS=-mod=mod -modcacherw", "GOSUMDB=off", "GOWORK=off",
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

// TestFetch installs the command, runs quickstart, and builds a program on the library and on each module below checkpoint:
// each as a stranger does once a version is published.
func TestFetch(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library in a fresh module cache")
	}
	download(t)
	s := publish(t)
	t.Run("install", func(t *testing.T) {
		s.run(t, t.TempDir(), "install", library+"/examples/apportion@"+version)
		out, err := exec.Command(filepath.Join(s.bin, "apportion"), "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "apportion "+version+" ") {
			t.Errorf("apportion version: %v, %q", err, out)
		}
	})
	t.Run("run", func(t *testing.T) {
		if out := s.run(t, t.TempDir(), "run", library+"/examples/quickstart@"+version); !strings.Contains(out, "why not more:") {
			t.Errorf("quickstart prints %q", out)
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

// TestReadme looks for the commands of TestFetch in the README of the repository.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"go install " + library + "/examples/apportion@" + version, "go run " + library + "/examples/quickstart@" + version,
		"go get " + library + "@" + version, "go get " + library + "/checkpoint/blobstore@" + version,
		"go get " + library + "/checkpoint/etcdjournal@" + version,
		"go work init . ../apportion ../apportion/checkpoint/blobstore",
	} {
		if !strings.Contains(string(readme), command) {
			t.Errorf("README.md does not say %q", command)
		}
	}
}

// TestUnpublishable says why a folder cannot be published: nothing there, and a file name that no module
// may have.
func TestUnpublishable(t *testing.T) {
	if _, err := Module(t.TempDir(), t.TempDir(), version); err == nil {
		t.Error("a folder without a go.mod was published")
	}
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "what?.go"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("module example.org/m\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Module(t.TempDir(), folder, version); err == nil || !strings.Contains(err.Error(), "what?.go") {
		t.Errorf("error %v does not name the file", err)
	}
}
