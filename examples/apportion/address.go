//go:build !js && !apportion_clib

// This file asks a controller for its newest decision, see controller.Handler.

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// controllerLimit is how long a controller may take for an answer of at most mostDecision bytes.
const (
	controllerLimit = time.Minute
	mostDecision    = 1 << 30
)

// isAddress reports whether an argument names a controller and no file.
func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// newestDecision returns the newest decision of the controller at an address, with its problem.
func (c *command) newestDecision(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/decision", nil)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		// As serve, which takes no token elsewhere without TLS.
		host := request.URL.Hostname()
		if ip := net.ParseIP(host); request.URL.Scheme != "https" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("%w: -token and %s: others could read the token on its way, which https hides", errUsage, address)
		}
		token, err := os.ReadFile(c.token)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	answer, err := (&http.Client{Timeout: controllerLimit}).Do(request)
	if err != nil {
		return nil, err
	}
	body := http.MaxBytesReader(nil, answer.Body, mostDecision)
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(body, 200))
		_ = body.Close()
		return nil, fmt.Errorf("%s: %s: %s", address, answer.Status, strings.TrimSpace(string(text)))
	}
	return body, nil
}
