// This file makes a disk that is small enough to be filled.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The time is enough for several saves to fail.
const (
	// diskBytes is the size of the store's disk: many checkpoints of the jobs here.
	diskBytes = 8 << 20
	// fullFor is how long the disk is full.
	fullFor = 30 * time.Second
)

// mount puts a small file system in memory on a folder, which takes root, and returns how to take it away.
// What the place has there before is hidden until it is taken away.
func mount(ctx context.Context, dir string) (unmount func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := tell(exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskBytes), "tmpfs", dir)); err != nil {
		return nil, err
	}
	return func() error { return tell(exec.Command("umount", dir)) }, nil
}

// tell runs a command, and has its error say what the command did.
func tell(cmd *exec.Cmd) error {
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[0], err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (f *failing) ballast() string { return f.place.Join("store", "ballast") }

// fill leaves no room on the disk of the store for a while.
// A disk that is full refuses a save, and must not harm what was saved before.
func fill(_ context.Context, f *failing) error {
	file, err := os.Create(f.ballast())
	if err != nil {
		return err
	}
	defer file.Close()
	for size := 1 << 20; size > 0; size /= 2 { // first the most of it, then the last byte
		for block := make([]byte, size); err == nil; {
			_, err = file.Write(block)
		}
		err = nil
	}
	f.filled, f.cleared = true, f.sample.At+fullFor
	return nil
}
