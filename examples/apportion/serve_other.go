//go:build js || apportion_clib

package main

import (
	"context"
	"errors"
)

// answerServe refuses: what runs in a browser or in another program serves nobody.
func answerServe(context.Context, *command) error {
	return errors.New("there is no service in this build")
}

// answerTry refuses as well.
func answerTry(context.Context, *command) error {
	return errors.New("there is no page in this build")
}
