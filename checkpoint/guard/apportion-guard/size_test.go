// This file tests how large the program is that goes into every container.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// most is how large the program may be, built as it is shipped.
const most = 8_000_000

// The program stays small: it is copied into every pod, and a package too many in what it imports is seen here.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	program := filepath.Join(t.TempDir(), "apportion-guard")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	info := must.Have(os.Stat(program))(t)
	if info.Size() > most {
		t.Errorf("it has %d bytes, at most %d are right", info.Size(), most)
	}
}
