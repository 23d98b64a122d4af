//go:build unix

// This file tests the small things that tests with processes need.

package processes

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Ports are given to one test at a time, and only those that nobody listens on.
func TestFreePorts(t *testing.T) {
	first := FreePorts(t, 3)
	second := FreePorts(t, 3)
	if first+3 > second && second+3 > first {
		t.Errorf("%d and %d", first, second)
	}
	l := must.Have(net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+1)))(t)
	defer l.Close()
	if areFree(first, 3) || !areFree(first+2, 1) {
		t.Errorf("port %d is free: %v", first+1, areFree(first, 3))
	}
	var again int
	t.Run("later", func(t *testing.T) { again = FreePorts(t, block) })
	t.Run("when that has ended", func(t *testing.T) {
		must.Equal(t, FreePorts(t, block), again, "was free again")
	})
}

// A daemon is started and killed, and nothing of it is left when its folder goes.
func TestDaemons(t *testing.T) {
	var dir string
	t.Run("cluster", func(t *testing.T) {
		d := New(t, "daemons")
		dir = d.Dir
		d.Write("etc/script", "echo $APPORTION_TEST_CLUSTER; sleep 1000 & sleep 1000", 0o600)
		started := func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, "log", "one"))
			return string(text) == dir+"/\n"
		}
		d.Start("one", "/bin/sh", filepath.Join(dir, "etc", "script"))
		Eventually(t, "it has started", 20e9, started)
		Eventually(t, "all of it lives", 20e9, func() bool { return len(of(dir)) == 3 })
		d.Kill("one")
		// What it has started lives on.
		if left := of(dir); len(left) != 2 {
			t.Errorf("%d processes are left", len(left))
		}
	})
	if left := of(dir); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
	must.Fail(os.Stat(dir))(t, must.ErrAny, "its folder is there")
}

// of are the processes that have a folder in their environment.
func of(dir string) []int {
	return matching(func(_, env []byte) bool { return bytes.Contains(env, []byte("APPORTION_TEST_CLUSTER="+dir+"/")) })
}
