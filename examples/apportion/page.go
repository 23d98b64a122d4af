//go:build js

// This file stands for what a page has no use of, and would wait for: it has no journal, no documents of a manager, no minutes for a
// forecast, and no lines that come one by one.

package main

import (
	"context"
	"errors"

	"github.com/apportion/apportion/alloc"
)

var errPage = errors.New("a page does not have this")

type (
	adjustInput  struct{}
	whenOptions  struct{}
	knowledge    struct{}
	replays      struct{}
	question     struct{}
	flowconInput struct{}
	speconInput  struct{}
	placedSample struct{}
)

func (*command) journalFlag() {}

func (*command) whenFlags() {}

func answerAdjust(context.Context, *command) error { return errPage }

func answerFlowCon(context.Context, *command) error { return errPage }

func answerSpeCon(context.Context, *command) error { return errPage }

func answerImport(context.Context, *command) error { return errPage }

func answerWhen(context.Context, *command) error { return errPage }

func starts(context.Context, *alloc.Problem, string) (string, error) { return "", nil }

func answerSession(context.Context, *command) error { return errPage }

func answerSim(context.Context, *command) error { return errPage }
