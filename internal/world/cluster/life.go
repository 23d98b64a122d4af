// This file holds lives: processes of the library that may be stopped and killed at every port to the world around them.

package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/vfstest"
)

// errDead is what a process gets that was killed: its goroutines go on, and nothing of what they do counts.
var errDead = errors.New("this process was killed")

type life struct {
	dead   bool
	frozen time.Time // until then it is stopped
}

func (l *life) asleep() bool { return time.Now().Before(l.frozen) }

// pass is called at every port, before anything is done there: a stopped process comes no further, and a dead one never does.
func (l *life) pass() error {
	for !l.dead && l.asleep() {
		time.Sleep(max(time.Millisecond, min(time.Until(l.frozen), time.Second)))
	}
	if l.dead {
		return errDead
	}
	return nil
}

// disk is a disk as a process sees it. full says until when nothing can be written.
func (l *life) disk(under *vfstest.Mem, full *time.Time) vfs.FS {
	return vfstest.Hooked(under, func(op vfstest.Op, _ string) error {
		if err := l.pass(); err != nil {
			return err
		}
		if writes := op == vfstest.Create || op == vfstest.Write || op == vfstest.Sync; writes && time.Now().Before(*full) {
			return syscall.ENOSPC
		}
		return nil
	})
}

// checkpoints is the store as a process sees it.
type checkpoints struct {
	store.Store
	w *world
	l *life
}

var errRefuses = errors.New("the store does not answer")

func (c *checkpoints) pass() error {
	if err := c.l.pass(); err != nil {
		return err
	}
	time.Sleep(time.Duration(1+c.w.rng.IntN(20)) * time.Millisecond)
	if time.Now().Before(c.w.refuses) {
		return errRefuses
	}
	return c.l.pass()
}

func (c *checkpoints) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	if err := c.pass(); err != nil {
		return nil, err
	}
	under, err := c.Store.Begin(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return &draft{under, c}, nil
}

func (c *checkpoints) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := c.pass(); err != nil {
		return nil, err
	}
	return c.Store.Open(ctx, job, number)
}

func (c *checkpoints) List(ctx context.Context, job string) ([]store.Manifest, error) {
	if err := c.pass(); err != nil {
		return nil, err
	}
	return c.Store.List(ctx, job)
}

func (c *checkpoints) Delete(ctx context.Context, job string, number int64) error {
	if err := c.pass(); err != nil {
		return err
	}
	return c.Store.Delete(ctx, job, number)
}

func (c *checkpoints) Fence(ctx context.Context, job string, number int64) error {
	if err := c.pass(); err != nil {
		return err
	}
	return c.Store.Fence(ctx, job, number)
}

func (c *checkpoints) Identity(ctx context.Context) (store.Identity, error) {
	if err := c.pass(); err != nil {
		return "", err
	}
	return c.Store.Identity(ctx)
}

// draft is a checkpoint that a process writes.
type draft struct {
	store.Writer
	of *checkpoints
}

func (d *draft) Commit() (store.Manifest, error) {
	if err := d.of.pass(); err != nil {
		return store.Manifest{}, err
	}
	return d.Writer.Commit()
}
