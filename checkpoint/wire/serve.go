// This file implements servers: what strangers may take of them is bounded in time and in memory.

package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// How long a server waits for a whole request and for the next one, and the longest headers in bytes.
const (
	readLimit = 10 * time.Second
	idleLimit = 2 * time.Minute
	maxHeader = 1 << 14
)

// Server returns a server of a handler with limits: a request that is not there as a whole in ten seconds, a connection
// without one for two minutes, and headers above 16 KiB end their connection. Answers may take any time: orders do.
func Server(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadTimeout: readLimit, IdleTimeout: idleLimit, MaxHeaderBytes: maxHeader}
}

// Serve answers requests on the listener, by a [Server], until the context ends, then closes every connection.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	// Every request's context descends from ctx, so that a handler which waits is told as well.
	server := Server(handler)
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
