//go:build linux

// This file measures what the runner adds to a job: starting and ending it, and asking for a save that
// takes no time.

package command_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
)

func benchSite(b *testing.B, start ...string) (*command.Runner, runner.Run) {
	b.Helper()
	a, err := command.New(command.Commands{Start: start, Work: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a, runner.Run{Job: "job", Containers: []string{"here"}, Dir: b.TempDir()}
}

func BenchmarkResumeStop(b *testing.B) {
	for _, containers := range []int{1, 8} {
		b.Run(fmt.Sprintf("containers=%d", containers), func(b *testing.B) {
			a, run := benchSite(b, "/bin/sleep", "3600")
			for len(run.Containers) < containers {
				run.Containers = append(run.Containers, "here")
			}
			for b.Loop() {
				run.Attempt++
				if err := a.Resume(context.Background(), run); err != nil {
					b.Fatal(err)
				}
				if err := a.Stop(context.Background(), run); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// The same without the runner: what the system takes.
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sleep", "3600")
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			_ = cmd.Process.Kill() // the end is seen below
			_ = cmd.Wait()
		}
	})
}

func BenchmarkSave(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	a, run := benchSite(b, program, "job:train", "1000000000")
	run.Attempt = 1
	if err := a.Resume(context.Background(), run); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := a.Save(context.Background(), run); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.Stop(context.Background(), run); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkProgress(b *testing.B) {
	a, run := benchSite(b, "/bin/sleep", "3600")
	run.Attempt = 1
	if err := a.Resume(context.Background(), run); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Progress(context.Background(), run); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.Stop(context.Background(), run); err != nil {
		b.Fatal(err)
	}
}
