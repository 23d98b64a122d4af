//go:build linux

// This file implements limits by the kernel's control groups, version 2 (cpu.max) and version 1
// (cpu.cfs_quota_us), through containerd's library.

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// period is the time in microseconds over which the kernel holds a group to its quota; leastQuota the
// least quota that it takes.
// A shorter period makes limits smoother and costs more switches.
const (
	period     = uint64(50_000)
	leastQuota = int64(1_000)
)

// mostWeight and mostShares are the most that versions 2 and 1 take when they divide a CPU that more want
// than there is.
const (
	mostWeight = uint64(10_000)
	mostShares = uint64(262_144)
)

// quotaOf returns the CPU time in a period.
func quotaOf(share float64) int64 { return max(leastQuota, int64(share*float64(period))) }

// groupName is the name of a process's group, directly below the root: parents then need no
// controllers of their own.
func groupName(id string) string { return fmt.Sprintf("/apportion-%d-%s", os.Getpid(), id) }

// unifiedRoots are where version 2 is mounted: alone, or beside version 1.
var unifiedRoots = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// quotaRoot is where version 1 has the CPU controller.
const quotaRoot = "/sys/fs/cgroup/cpu"

// unified sets cpu.max of version 2.
// groups are by job.
type unified struct {
	root   string
	first  bool
	groups map[string]*cgroup2.Manager
}

// newUnified probes the roots for a hierarchy of version 2 with the CPU controller in which groups can
// be made.
// The probe makes a group and removes it, as rights may be missing in many ways.
func newUnified(first bool, roots ...string) (*unified, error) {
	err := errors.New("not mounted")
	for _, root := range roots {
		controllers, readErr := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
		if readErr != nil {
			continue
		}
		if !slices.Contains(strings.Fields(string(controllers)), "cpu") {
			err = fmt.Errorf("%s has no cpu controller", root)
			continue
		}
		u := &unified{root: root, first: first, groups: map[string]*cgroup2.Manager{}}
		if err = u.make("probe", 1); err == nil {
			return u, u.remove("probe")
		}
	}
	return nil, err
}

// Name says where the hierarchy is, as there may be two.
func (u *unified) Name() string { return "cgroup v2, cpu.max, at " + u.root }

// With first the group goes before all others of the machine when the CPU is short.
func (u *unified) resources(share float64) *cgroup2.Resources {
	quota, length := quotaOf(share), period
	cpu := &cgroup2.CPU{Max: cgroup2.NewCPUMax(&quota, &length)}
	if most := mostWeight; u.first {
		cpu.Weight = &most
	}
	return &cgroup2.Resources{CPU: cpu}
}

// A group that is there already is taken over.
func (u *unified) make(id string, share float64) error {
	group, err := cgroup2.NewManager(u.root, groupName(id), u.resources(share))
	if err == nil {
		u.groups[id] = group
	}
	return err
}

// A process brings all its threads, and what it starts later, along.
func (u *unified) add(p *Process) error {
	if err := u.make(p.Name, 1); err != nil {
		return err
	}
	return u.groups[p.Name].AddProc(uint64(p.pid))
}

// The kernel takes the new quota with the next period.
func (u *unified) limit(id string, share float64) error {
	return u.groups[id].Update(u.resources(share))
}

// One that is not there is no error.
func (u *unified) remove(id string) error {
	group, ok := u.groups[id]
	if !ok {
		return nil
	}
	delete(u.groups, id)
	return patiently(group.Delete)
}

// Groups of jobs that still run are removed when these have ended.
func (u *unified) Close() error { return closeAll(u.groups, u.remove) }

// quota sets cpu.cfs_quota_us of version 1.
// It is unified's twin for the older hierarchy.
type quota struct {
	first  bool
	groups map[string]cgroup1.Cgroup
}

// cpuOnly is a hierarchy with the CPU controller alone.
func cpuOnly() ([]cgroup1.Subsystem, error) {
	return []cgroup1.Subsystem{cgroup1.NewCpu("/sys/fs/cgroup")}, nil
}

// newQuota probes for the CPU controller of version 1 and the right to make groups.
// Both files are looked for, as kernels differ in which they have at the root.
func newQuota(first bool) (*quota, error) {
	if _, err := os.Stat(quotaRoot + "/cpu.cfs_quota_us"); err != nil {
		if _, err := os.Stat(quotaRoot + "/cpu.shares"); err != nil {
			return nil, errors.New("no cpu controller is mounted")
		}
	}
	q := &quota{first: first, groups: map[string]cgroup1.Cgroup{}}
	if err := q.make("probe"); err != nil {
		return nil, err
	}
	return q, q.remove("probe")
}

func (q *quota) Name() string { return "cgroup v1, cpu.cfs_quota_us" }

// Shares matter only when more want the CPU than there is.
func (q *quota) resources(share float64) *specs.LinuxResources {
	limit, length := quotaOf(share), period
	cpu := &specs.LinuxCPU{Quota: &limit, Period: &length}
	if most := mostShares; q.first {
		cpu.Shares = &most
	}
	return &specs.LinuxResources{CPU: cpu}
}

// It begins without a limit to speak of: a whole CPU.
func (q *quota) make(id string) error {
	group, err := cgroup1.New(cgroup1.StaticPath(groupName(id)), q.resources(1), cgroup1.WithHierarchy(cpuOnly))
	if err == nil {
		q.groups[id] = group
	}
	return err
}

// It is the same as for version 2, by another file.
func (q *quota) add(p *Process) error {
	if err := q.make(p.Name); err != nil {
		return err
	}
	return q.groups[p.Name].Add(cgroup1.Process{Pid: p.pid})
}

// The kernel takes the new quota with the next period.
func (q *quota) limit(id string, share float64) error {
	return q.groups[id].Update(q.resources(share))
}

// One that is not there is no error.
func (q *quota) remove(id string) error {
	group, ok := q.groups[id]
	if !ok {
		return nil
	}
	delete(q.groups, id)
	return patiently(group.Delete)
}

// Groups of jobs that still run are removed when these have ended.
func (q *quota) Close() error { return closeAll(q.groups, q.remove) }

// dying is how long the kernel may take to end the threads of a killed process. Until then its group is
// busy, although the process itself is a zombie already.
const dying = 30 * time.Second

// patiently repeats the removal of a group until its processes are gone.
func patiently(remove func() error) error {
	for deadline := time.Now().Add(dying); ; time.Sleep(10 * time.Millisecond) {
		if err := remove(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// closeAll removes every group.
// It goes on after an error.
func closeAll[G any](groups map[string]G, remove func(id string) error) error {
	var err error
	for id := range groups {
		err = errors.Join(err, remove(id))
	}
	return err
}
