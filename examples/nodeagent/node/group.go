//go:build linux

// This file implements groups of processes: what starts in one shares one CPU's worth of time.

package node

import (
	"errors"
	"fmt"
	"os"
)

// procs is the file with the processes of a group; writing 0 there brings in the writer.
const procs = "/cgroup.procs"

// Group is a control group. Programs join it by writing the number of their process into its file; what
// they start belongs to it.
// It is for programs that start jobs themselves.
type Group struct {
	// Procs is the path of that file.
	Procs string

	root   string // the file of the hierarchy's root
	writer Writer
}

// NewGroup makes a group whose processes use the time of one CPU at most, by version 2 of control groups or
// by version 1. First: they go before all processes that are not in such a group. Names are unique
// among the groups of this process.
func NewGroup(name string, first bool) (*Group, error) {
	u, err2 := newUnified(first, unifiedRoots...)
	if err2 == nil {
		return &Group{u.root + groupName(name) + procs, u.root + procs, u}, u.make(name, 1)
	}
	q, err1 := newQuota(first)
	if err1 == nil {
		return &Group{quotaRoot + groupName(name) + procs, quotaRoot + procs, q}, q.make(name)
	}
	return nil, fmt.Errorf("no control groups: version 2: %w, version 1: %w", err2, err1)
}

// Join brings this process into the group, and with it all that it starts from now on.
func (g *Group) Join() error { return os.WriteFile(g.Procs, []byte("0"), 0) }

// Close brings this process back into the root and removes the group, whose other processes must have ended
// or be about to.
func (g *Group) Close() error {
	return errors.Join(os.WriteFile(g.root, []byte("0"), 0), g.writer.Close())
}
