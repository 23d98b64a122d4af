//go:build linux

// This file gives folders of a cluster small disks of their own, which can be filled and frozen.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// disk is the disk of a folder.
// Only a file system on a block device can be frozen.
type disk struct {
	what, folder string
	freezes      bool
}

// diskBytes is the size of a disk.
const diskBytes = 24 << 20

// mount mounts the disks of a campaign: that of the store is a file system of its own, those of master and agents are in
// memory.
func (c *campaign) mount() error {
	image := c.place.Join("store.image")
	for _, d := range []*disk{{"the store", c.place.Join("store"), true}, {"the master's disk", c.place.Join("master"), false}, {"the agents' disk", c.place.Join("agents"), false}} {
		if err := os.MkdirAll(d.folder, 0o700); err != nil {
			return err
		}
		size := fmt.Sprint(diskBytes)
		steps := [][]string{{"mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", d.folder}}
		if d.freezes {
			steps = [][]string{{"truncate", "-s", size, image}, {"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, d.folder}}
		}
		for _, argv := range steps {
			if err := tell(argv...); err != nil {
				return err
			}
		}
		c.disks = append(c.disks, d)
	}
	return nil
}

// unmount takes the disks away. One that is frozen must go on first.
// -l lets go of a folder in which a process still has a file open.
func (c *campaign) unmount() error {
	var errs []error
	for _, d := range c.disks {
		if d.freezes {
			_ = tell("fsfreeze", "-u", d.folder) // as a rule it is not frozen
		}
		errs = append(errs, tell("umount", "-l", d.folder))
	}
	return errors.Join(errs...)
}

// freeze has everything that writes there hang.
// heal lets it go on; what hung then completes.
func (d *disk) freeze() (heal func()) {
	_ = tell("fsfreeze", "-f", d.folder) // it may be frozen
	return func() { _ = tell("fsfreeze", "-u", d.folder) }
}

// fill leaves no room.
// heal removes what filled it.
func (d *disk) fill() (heal func()) {
	name := filepath.Join(d.folder, "ballast")
	// It would hang while the disk is frozen, which the same round may have done: nobody waits for it.
	cmd := exec.Command("dd", "if=/dev/zero", "of="+name, "bs=64k")
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // which ends when the disk is full
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = exec.Command("rm", "-f", name).Start() // nor for this
	}
}

// tell runs a command, and has its error say what the command did.
func tell(argv ...string) error {
	output, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
