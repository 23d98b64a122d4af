//go:build linux

// This file plays a few dozen faults, and checks that the campaign would find a job that runs twice.

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	args := []string{"faults", "-count", "24", "-seed", "3", "-dir", t.TempDir() + "/place"}
	if !canMount(t) {
		t.Log("NOT TESTED: disks that are full or frozen, for nothing can be mounted here")
		args = append(args, "-disks=false")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	must.Do(t, run(ctx, &out, &errs, args), &out, &errs)
	t.Logf("\n%s", &out)
	if !strings.Contains(out.String(), "no job ran twice") {
		t.Errorf("%s", &out)
	}
}

// canMount reports whether this process may mount disks.
func canMount(t *testing.T) bool {
	t.Helper()
	for _, program := range []string{"fsfreeze", "mkfs.ext4"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	image, folder := t.TempDir()+"/image", t.TempDir()
	if os.Geteuid() != 0 || tell("truncate", "-s", "4M", image) != nil || tell("mkfs.ext4", "-q", image) != nil || tell("mount", "-o", "loop", image, folder) != nil {
		return false
	}
	return tell("umount", folder) == nil
}
