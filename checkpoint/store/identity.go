// This file implements Identity: the name by which a medium is known again.

package store

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
)

// Identity names a medium that holds checkpoints, for as long as the medium exists: 26 letters and digits
// that are random. It tells a store from another one that came into its place: a folder whose disk is not mounted looks like a
// store without checkpoints.
type Identity string

// identityMagic opens the line in which a medium keeps its identity. The number is the version of the form.
const identityMagic = "apportion-store 1 "

// identityBytes is the length of an identity: 130 random bits, five in a character.
const identityBytes = 26

// Valid reports whether id has the form of an identity, which NewIdentity makes.
func (id Identity) Valid() bool {
	base32 := func(r rune) bool { return 'A' <= r && r <= 'Z' || '2' <= r && r <= '7' }
	return len(id) == identityBytes && strings.TrimFunc(string(id), base32) == ""
}

// Line returns the bytes in which a medium keeps the identity.
func (id Identity) Line() []byte { return []byte(identityMagic + string(id) + "\n") }

// NewIdentity returns the identity of a new store.
func NewIdentity() Identity { return Identity(rand.Text()) }

// ReadIdentity reads what Line returns, and nothing else; the error of another line wraps ErrCorrupt.
func ReadIdentity(from io.Reader) (Identity, error) {
	const most = 100 // bytes
	line, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return "", err
	}
	text, end := strings.CutSuffix(string(line), "\n")
	word, magic := strings.CutPrefix(text, identityMagic)
	if id := Identity(word); end && magic && id.Valid() {
		return id, nil
	}
	return "", fmt.Errorf("identity %.60q: %w", line, ErrCorrupt)
}

// Same returns an error that wraps ErrIdentity unless found is the identity that was expected. An empty
// expectation takes every store, and an empty found is a store that has none.
func (id Identity) Same(found Identity) error {
	if id == "" || id == found {
		return nil
	}
	return fmt.Errorf("is %.60q and not %.60q: %w", string(found), string(id), ErrIdentity)
}
