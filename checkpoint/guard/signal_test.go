//go:build linux

// This file has the small things that the processes of the tests need.

package guard_test

import (
	"context"
	"net/http"
	"os/signal"
	"syscall"
)

type (
	handlerFunc = http.HandlerFunc
	writer      = http.ResponseWriter
	request     = *http.Request
)

func notify(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGTERM)
}
