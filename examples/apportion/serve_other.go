//go:build js || apportion_clib

package main

import (
	"context"
	"errors"
	"io"
)

// answerServe refuses: what runs in a browser or in another program serves nobody.
func answerServe(context.Context, *command) error {
	return errors.New("there is no service in this build")
}

// isAddress knows no controllers.
func isAddress(string) bool { return false }

func (*command) newestDecision(context.Context, string) (io.ReadCloser, error) { return nil, nil }

// answerTry refuses as well.
func answerTry(context.Context, *command) error {
	return errors.New("there is no page in this build")
}
