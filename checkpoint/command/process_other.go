//go:build !linux

// This file says, where the system is not Linux, that processes cannot be followed there.

package command

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

type process struct {
	PID   int
	Start uint64
}

const (
	terminate = syscall.SIGTERM
	proceed   = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// bootID fails, so that New does, and nothing else here is ever called.
func bootID() (string, error) { return "", errors.ErrUnsupported }

func (a *Runner) identify(int) (process, bool)      { return process{}, false }
func (a *Runner) alive(process) bool                { return false }
func identityOf(int) (uint64, bool)                 { return 0, false }
func (a *Runner) signal(process, os.Signal) error   { return errors.ErrUnsupported }
func (a *Runner) killGroup(process)                 {}
func (a *Runner) holders(jobFolder) map[int]process { return nil }
func (r runFolder) isHeld() (bool, error)           { return false, errors.ErrUnsupported }
func signalName(os.Signal) string                   { return "" }
func ownGroup() *syscall.SysProcAttr                { return nil }
func exitOf(state *os.ProcessState) ended           { return ended{Code: state.ExitCode()} }
func release(string, int64) error                   { return errors.ErrUnsupported }
func diskBytes(info os.FileInfo) int64              { return info.Size() }
func (a *Runner) members(jobFolder, int64, map[int]process, map[int]process, uint64) (map[int]process, error) {
	return nil, errors.ErrUnsupported
}
func (a *Runner) awaitEnds(context.Context, map[int]process, time.Duration) error {
	return errors.ErrUnsupported
}

// watch tells nothing.
type watch struct{}

func watching(...string) *watch                           { return nil }
func (w *watch) wait(context.Context, time.Duration) bool { return false }
func (w *watch) close()                                   {}
