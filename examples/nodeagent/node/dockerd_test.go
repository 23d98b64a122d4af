//go:build linux

// This file checks the writer of Docker on a daemon of its own, where one can be started: as root, with
// dockerd and runc installed. APPORTION_REQUIRE_DOCKER=1 makes its absence a failure.

package node

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/apportion/apportion/internal/must"
)

// withoutDocker skips a test, or fails it where it must not be skipped.
func withoutDocker(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("APPORTION_REQUIRE_DOCKER") == "1" {
		t.Fatal("APPORTION_REQUIRE_DOCKER is set, but ", reason)
	}
	t.Skip("NOT TESTED, Docker's daemon: ", reason)
}

// startDaemon starts Docker's daemon with all its files in a folder, ends it after the test, and returns
// where it listens.
func startDaemon(t *testing.T) (host string) {
	t.Helper()
	if os.Geteuid() != 0 {
		withoutDocker(t, "it needs root")
	}
	program, err := exec.LookPath("dockerd")
	if err != nil {
		withoutDocker(t, err.Error())
	}
	dir := shortFolder(t)
	host = "unix://" + filepath.Join(dir, "d.sock")
	log := must.Have(os.Create(filepath.Join(dir, "log")))(t)
	defer log.Close()
	cmd := exec.Command(program, "--host", host, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--bridge", "none", "--iptables=false", "--storage-driver", "vfs")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it ends its own children
	if err := cmd.Start(); err != nil {
		withoutDocker(t, err.Error())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the log says more
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("daemon does not end")
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	if !answersWithin(host, ended) {
		withoutDocker(t, "it does not start:\n"+content(t, dir, "log"))
	}
	return host
}

// answersWithin says whether a daemon answers before it ends, within a minute.
func answersWithin(host string, ended <-chan struct{}) bool {
	c, err := client.New(client.WithHost(host))
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if _, err := c.Ping(ctx, client.PingOptions{}); err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// staticAgent builds this program so that it needs no shared libraries.
func staticAgent(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nodeagent")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return path
}

// Limits hold in a real container, the whole program runs, and nothing is left at the daemon.
func TestDockerHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a daemon and measures for seconds")
	}
	program, host := staticAgent(t), startDaemon(t)
	d, err := newDocker(Machine{CPU: lastOf(t), DockerHost: host, Program: program, Endless: endless})
	if err != nil {
		withoutDocker(t, err.Error())
	}
	holds(t, d, d)
	// A container that is gone is no error.
	p, kill := spin(t, d)
	must.Do(t, d.add(p))
	kill()
	must.Do(t, d.limit(p.Name, 0.5), "limit of a container that is gone")
	must.Err(t, d.limit("nobody", 0.5), must.ErrAny, "no error for an unknown container")

	cmd := exec.CommandContext(t.Context(), program, "-writer", "docker", "-docker-host", host, "-runs", "1", "-scale", "0.02", "-interval", "20ms", "-timeout", "5m")
	output, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "limits by Docker ") || !strings.Contains(string(output), "makespan") {
		t.Errorf("%v\n%s", err, output)
	}
	must.Do(t, d.Close())
	clean(t, host)
}

func clean(t *testing.T, host string) {
	t.Helper()
	c := must.Have(client.New(client.WithHost(host)))(t)
	defer c.Close()
	containers, err1 := c.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	images, err2 := c.ImageList(t.Context(), client.ImageListOptions{All: true})
	must.Do(t, errors.Join(err1, err2))
	if len(containers.Items)+len(images.Items) > 0 {
		t.Errorf("left behind: %+v %+v", containers.Items, images.Items)
	}
}
