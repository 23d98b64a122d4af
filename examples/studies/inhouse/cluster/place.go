// This file implements the place: the directory that master, agents and command line share, and what
// they find each other by.

// Package cluster runs the in-house scheduler's programs: it finds them by a directory, serves them,
// starts them as child processes and kills them.
package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/checkpoint/filestore"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
	"github.com/apportion/apportion/internal/durable"
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
	return filestore.Open(p.Join("store"), nil)
}

// Token returns the secret that all programs of the cluster know; the first to ask makes it.
func (p Place) Token() (string, error) {
	if err := os.MkdirAll(string(p), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(string(p), ".token-")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(rand.Text() + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if err := os.Link(file.Name(), p.Join("token")); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	text, err := os.ReadFile(p.Join("token"))
	return strings.TrimSpace(string(text)), err
}

// URLFile is the file with the master's address. A new master may have another one.
const URLFile = "master.url"

// publish writes the master's address, whole or not at all.
func (p Place) publish(url string) error {
	return durable.WriteFile(p.Join(URLFile), []byte(url+"\n"))
}

// Master returns a client for the master that was started last.
func (p Place) Master() (*wire.Client, error) {
	url, err := os.ReadFile(p.Join(URLFile))
	if err != nil {
		return nil, err
	}
	token, err := p.Token()
	return &wire.Client{Base: strings.TrimSpace(string(url)), Token: token}, err
}

// Call asks the master.
func (p Place) Call(ctx context.Context, path string, question, answer any) error {
	client, err := p.Master()
	if err != nil {
		return err
	}
	return client.Call(ctx, path, question, answer)
}
