//go:build linux || darwin

// This file checks that nobody writes to standard error.

package ortools_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// asChild is the environment variable by which TestQuiet tells its child what it is.
const asChild = "APPORTION_TEST_QUIET"

// TestQuiet has a child search with every engine, interruptibly: nothing reaches its standard error.
func TestQuiet(t *testing.T) {
	all := engines(t)
	if os.Getenv(asChild) != "" {
		for _, e := range all {
			model := knapsack(t, 1)
			if !e.can(model.Needs()) {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			if _, err := milp.Solve(ctx, e.solver, model, nil); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
			cancel()
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestQuiet$")
	child.Env = append(os.Environ(), asChild+"=1")
	var complaints strings.Builder
	child.Stderr = &complaints
	if err := child.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("%v; on standard error:\n%s", err, &complaints)
	}
}
