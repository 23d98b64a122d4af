//go:build !js && !apportion_clib

// This file implements "apportion serve": it listens, says so, and ends with an interrupt when what was begun is answered.

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// answerServe serves until ctx ends.
func answerServe(ctx context.Context, c *command) error {
	o := &c.service
	if c.NArg() > 0 {
		return fmt.Errorf("%w: serve reads no file", errUsage)
	}
	if o.atOnce < 1 || o.most < 1 || o.body < 1 || o.timeout <= 0 || o.memory < 0 || o.idle < 0 {
		return fmt.Errorf("%w: -at-once, -sessions, -body and -timeout must be positive, -memory and -idle not negative", errUsage)
	}
	token, err := o.readToken()
	if err != nil {
		return err
	}
	listener, err := o.open()
	if err != nil {
		return err
	}
	if o.memory > 0 {
		debug.SetMemoryLimit(o.memory) // collected earlier, before anything is refused
	}
	server := &http.Server{
		Handler: newService(c, token).handler(), ReadHeaderTimeout: slowest, ReadTimeout: 4 * slowest, IdleTimeout: 10 * slowest,
		MaxHeaderBytes: 1 << 16, ErrorLog: log.New(io.Discard, "", 0),
	}
	if err := c.writeLine(map[string]string{"listening": o.listen}); err != nil {
		_ = listener.Close()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timeout+slowest)
		defer cancel()
		err := server.Shutdown(ctx)
		<-ended // Serve closes the listener itself where it begins after Shutdown
		return err
	}
}

// slowest is how long the head of a request may take; its body may take four times that.
const slowest = 15 * time.Second

// readToken reads the file of -token, which nobody else may read.
func (o *serviceOptions) readToken() (string, error) {
	if o.token == "" {
		if !o.onSocket() {
			return "", fmt.Errorf("%w: -listen %s needs -token: every user of this machine can reach it", errUsage, o.listen)
		}
		return "", nil
	}
	info, err := os.Stat(o.token)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return "", fmt.Errorf("%s may be read by others: chmod 600", o.token)
	}
	text, err := os.ReadFile(o.token)
	text = bytes.TrimSpace(text)
	if err == nil && len(text) < shortestToken {
		err = fmt.Errorf("the token in %s has fewer than %d characters", o.token, shortestToken)
	}
	return string(text), err
}

// socketPrefix begins an address that is the path of a socket.
const socketPrefix = "unix:"

func (o *serviceOptions) onSocket() bool { return strings.HasPrefix(o.listen, socketPrefix) }

// shortestToken is the least length of a token in characters: 96 random bits as base64.
const shortestToken = 16

// open listens, with TLS where there is a certificate.
func (o *serviceOptions) open() (net.Listener, error) {
	if path, is := strings.CutPrefix(o.listen, socketPrefix); is {
		return listenUnix(path)
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return nil, fmt.Errorf("%w: -listen %s: %w", errUsage, o.listen, err)
	}
	if ip := net.ParseIP(host); o.certificate == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%w: -listen %s needs -cert and -key: others could read the token on its way", errUsage, o.listen)
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, err
	}
	o.listen = listener.Addr().String() // with the port, where it was 0
	if o.certificate == "" {
		return listener, nil
	}
	pair, err := tls.LoadX509KeyPair(o.certificate, o.key)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

// listenUnix listens on a socket that its owner alone may open. It is made in a folder of its own and moved to its place, so that there is
// no instant at which others could open it. One that a service left behind is replaced, one with a service behind it is not.
// Of several that begin at once the lock beside it lets one through, which keeps it for as long as it listens.
func listenUnix(path string) (_ net.Listener, err error) {
	release, free, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, fmt.Errorf("%s: another service listens there", path)
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: another service listens there", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is there, and no socket", path)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".apportion")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // it is elsewhere then
	err = errors.Join(os.Chmod(made, 0o600), moveTo(path, folder, "s"))
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	return &unixListener{listener, path, release}, nil
}

// moveTo gives a file of a folder beside path that name.
func moveTo(path, folder, name string) error {
	disk, err := vfs.NewOS(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer disk.Close()
	return disk.Rename(filepath.Join(filepath.Base(folder), name), filepath.Base(path))
}

// unixListener takes its socket away when it closes.
type unixListener struct {
	*net.UnixListener
	path    string
	release func()
}

func (u *unixListener) Close() error {
	defer u.release()
	return errors.Join(u.UnixListener.Close(), os.Remove(u.path))
}
