//go:build js

// This file stands for what a page has no use of, and would wait for: it has no journal, and no documents of a manager.

package main

import (
	"context"
	"errors"
)

var errPage = errors.New("a page does not have this")

type adjustInput struct{}

func (*command) journalFlag() {}

func answerAdjust(context.Context, *command) error { return errPage }

func answerImport(context.Context, *command) error { return errPage }
