//go:build linux

// This file checks the writers of cgroups: version 2 on a hierarchy made of files, version 1 where it is
// mounted; and the choice among all.

package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/apportion/apportion/internal/must"
)

// fakeRoot makes what a mounted hierarchy of version 2 has at its root.
func fakeRoot(t *testing.T, controllers string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "cgroup.controllers"), controllers)
	write(t, filepath.Join(root, "cgroup.subtree_control"), "")
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	data := must.Have(os.ReadFile(filepath.Join(path...)))(t)
	return strings.TrimSpace(string(data))
}

// unifiedOn returns a writer on a fake hierarchy, without the probe: a real group's folder is removed
// with its files, a fake one's is not.
func unifiedOn(t *testing.T) *unified {
	t.Helper()
	u, _ := newUnified(false, fakeRoot(t, "cpuset cpu io\n"))
	if u == nil {
		t.Fatal("refused a hierarchy with the cpu controller")
	}
	return u
}

func TestUnifiedWritesCPUMax(t *testing.T) {
	u := unifiedOn(t)
	must.Do(t, u.add(&Process{Job: &Job{Name: "a"}, pid: 4321}))
	group := filepath.Join(u.root, groupName("a"))
	must.Equal(t, content(t, u.root, "cgroup.subtree_control"), "+cpu", "subtree_control")
	must.Equal(t, content(t, group, "cgroup.procs"), "4321", "procs")
	for _, test := range []struct {
		share float64
		want  string
	}{{0.25, "12500 50000"}, {1, "50000 50000"}, {0.0001, "1000 50000"}} {
		must.Do(t, u.limit("a", test.share))
		must.Equal(t, content(t, group, "cpu.max"), test.want, "share", test.share, "cpu.max")
	}
	for _, file := range []string{"cpu.max", "cgroup.procs"} { // the kernel does this
		must.Do(t, os.Remove(filepath.Join(group, file)))
	}
	must.Do(t, u.remove("a"))
	must.Fail(os.Stat(group))(t, os.ErrNotExist, "group is still there")
	must.Do(t, u.remove("a"), "removed twice")
}

func TestUnifiedRefuses(t *testing.T) {
	if _, err := newUnified(false, fakeRoot(t, "hugetlb\n")); err == nil || !strings.Contains(err.Error(), "no cpu controller") {
		t.Errorf("hierarchy without cpu: %v", err)
	}
	if _, err := newUnified(false, filepath.Join(t.TempDir(), "nothing")); err == nil || err.Error() != "not mounted" {
		t.Errorf("no hierarchy: %v", err)
	}
	root := fakeRoot(t, "cpu\n")
	must.Do(t, os.Remove(filepath.Join(root, "cgroup.subtree_control")))
	must.Fail(newUnified(false, root))(t, must.ErrAny, "no error where the controller cannot be handed down")
}

func TestChoose(t *testing.T) {
	here := Machine{CPU: lastOf(t)}
	if w, r, _, err := Choose("signals", here); err != nil || w.Close() != nil || r != (local{here.CPU}) {
		t.Errorf("signals: %v, jobs by %v", err, r)
	}
	const want = `no writer is called "nothing"; must be one of auto, v2, v1, docker, signals`
	if _, _, _, err := Choose("nothing", here); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	w, _, notes, err := Choose("auto", here)
	must.Do(t, err, "auto", notes)
	t.Logf("%s; %v", w.Name(), notes)
	must.Do(t, w.Close())
}

func lastOf(t *testing.T) int {
	t.Helper()
	return must.Have(LastCPU())(t)
}

func TestQuotaWritesQuota(t *testing.T) {
	q, err := newQuota(false)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		must.Do(t, q.Close())
	}()
	p, kill := spin(t, local{lastOf(t)})
	defer kill() // before the group goes
	must.Do(t, q.add(p))
	group := filepath.Join("/sys/fs/cgroup/cpu", groupName(p.Name))
	if got, want := content(t, group, "cgroup.procs"), strconv.Itoa(p.pid); got != want {
		t.Errorf("processes %q, want %s", got, want)
	}
	for _, test := range []struct {
		share float64
		want  string
	}{{0.25, "12500"}, {1, "50000"}, {0.0001, "1000"}} {
		must.Do(t, q.limit(p.Name, test.share))
		got, length := content(t, group, "cpu.cfs_quota_us"), content(t, group, "cpu.cfs_period_us")
		if got != test.want || length != "50000" {
			t.Errorf("share %v: quota %s of %s, want %s of 50000", test.share, got, length, test.want)
		}
	}
}

// A group is busy while threads of a killed process still die.
func TestRemovalWaits(t *testing.T) {
	calls := 0
	busy := func() error {
		if calls++; calls < 3 {
			return unix.EBUSY
		}
		return nil
	}
	if err := patiently(busy); err != nil || calls != 3 {
		t.Errorf("%d calls: %v", calls, err)
	}
}
