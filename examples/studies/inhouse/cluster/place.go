// This file implements the place: the directory that master, agents and command line share, and what
// they find each other by.

// Package cluster runs the in-house scheduler's programs: it finds them by a directory, serves them,
// starts them as child processes and kills them.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Place is the directory of a cluster, as an absolute path.
type Place string

// Set makes the place a flag.
func (p *Place) Set(dir string) error {
	dir, err := filepath.Abs(dir)
	*p = Place(dir)
	return err
}

// String returns the path.
func (p *Place) String() string { return string(*p) }

// Join returns a path in the place.
func (p Place) Join(names ...string) string {
	return filepath.Join(append([]string{string(p)}, names...)...)
}

// Shared is where running jobs write: a directory that every server sees.
func (p Place) Shared() string { return p.Join("shared") }

// Store opens the store for checkpoints, on a disk that every server sees.
func (p Place) Store() (store.Store, error) {
	if err := os.MkdirAll(p.Join("store"), 0o700); err != nil {
		return nil, err
	}
	return files.Open(p.Join("store"), nil)
}

// Secret returns the secret of the cluster; the first to ask makes it. It is for masters, and for whoever makes credentials
// on the master's machine.
// Of several that ask at the same time one wins by making the link, and all read the same.
func (p Place) Secret() (secret wire.Secret, err error) {
	if err := os.MkdirAll(string(p), 0o700); err != nil {
		return secret, err
	}
	file, err := os.CreateTemp(string(p), ".secret-")
	if err != nil {
		return secret, err
	}
	defer os.Remove(file.Name())
	text, _ := wire.NewSecret().MarshalText() // which never fails
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return secret, err
	}
	if err := os.Link(file.Name(), p.Join("secret")); err != nil && !errors.Is(err, os.ErrExist) {
		return secret, err
	}
	text, err = os.ReadFile(p.Join("secret"))
	if err != nil {
		return secret, err
	}
	return secret, secret.UnmarshalText(bytes.TrimSpace(text))
}

// URLFile is the file with the master's address. A new master may have another one.
const URLFile = "master.url"

// publish writes the master's address, whole or not at all.
func (p Place) publish(url string) error {
	return vfs.WriteFile(p.Join(URLFile), []byte(url+"\n"))
}

func (p Place) masterURL() (string, error) {
	url, err := os.ReadFile(p.Join(URLFile))
	return strings.TrimSpace(string(url)), err
}

// Master returns a client for the master that was started last.
func (p Place) Master() (*wire.Client, error) {
	url, err := p.masterURL()
	if err != nil {
		return nil, err
	}
	secret, err := p.Secret()
	if err != nil {
		return nil, err
	}
	client := secret.Credential(wire.Party{Role: wire.User, Name: "local"}).Client(url)
	client.HTTP, err = p.asks(url, TLS{})
	return client, err
}

// Page returns the address of the status page, good for a day.
func (p Place) Page() (string, error) {
	client, err := p.Master()
	if err != nil {
		return "", err
	}
	secret, err := p.Secret()
	return client.Base + secret.Link("/", time.Now().Add(24*time.Hour)), err
}

// List returns how all jobs stand, of which the master tells a part at a time.
func (p Place) List(ctx context.Context) (all master.List, err error) {
	client, err := p.Master()
	for more := err == nil; more; more = err == nil && all.Next != 0 {
		var part master.List
		err = client.Call(ctx, "/list", master.Page{From: all.Next}, &part)
		part.Jobs = append(all.Jobs, part.Jobs...)
		all = part
	}
	return all, err
}

// Call asks the master.
// question and answer are what package wire sends as JSON.
func (p Place) Call(ctx context.Context, path string, question, answer any) error {
	client, err := p.Master()
	if err != nil {
		return err
	}
	return client.Call(ctx, path, question, answer)
}
