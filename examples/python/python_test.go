//go:build cgo && !windows

// Package python tests the package for Python as its users have it: installed from a wheel that was built here.
package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestPackage(t *testing.T) {
	for _, tool := range []string{"python3", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			must.Equal(t, os.Getenv("APPORTION_REQUIRE_PYTHON"), "", err)
			t.Skip(err)
		}
	}
	dist, site := t.TempDir(), t.TempDir()
	built := python(t, "", "build.py", "--into", dist)
	wheels := must.Have(filepath.Glob(filepath.Join(dist, "*.whl")))(t)
	must.Equal(t, len(wheels), 1, wheels, built)
	python(t, "", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", site, wheels[0])
	for _, tests := range []string{"test_apportion.py", "test_notebooks.py"} {
		if out := python(t, site, tests, "-v"); !strings.Contains(out, "\nOK") {
			t.Errorf("%s", out)
		}
	}
}

// python runs Python on the packages of a folder, and returns what it prints.
func python(t *testing.T, site string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+site, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	must.Do(t, err, args, out)
	return string(out)
}
