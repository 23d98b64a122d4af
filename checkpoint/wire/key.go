// This file implements keys: the secret of a cluster, and what each party of it has.

package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Role is what a party of a cluster is.
type Role string

// The roles.
const (
	Master Role = "master"
	Agent  Role = "agent"
	User   Role = "user"
	// Guard is a guard of a run, see package guard, at a controller beside a cluster manager.
	Guard Role = "guard"
)

// parties are the roles that have credentials: the masters have the secret.
var parties = []Role{Agent, User, Guard}

// Party is somebody who calls or is called. The masters of a cluster are one: they have no name.
type Party struct {
	Role Role   `json:"role"`
	Name string `json:"name,omitempty"`
}

// String returns the party as it stands in a header.
func (p Party) String() string {
	// A name may hold any byte, and a header not: in hexadecimal digits no name ends a line or looks like another party.
	if p.Role == Master {
		return string(Master)
	}
	return string(p.Role) + "/" + hex.EncodeToString([]byte(p.Name))
}

func readParty(text string) (Party, error) {
	if text == string(Master) {
		return Party{Role: Master}, nil
	}
	role, name, found := strings.Cut(text, "/")
	raw, err := hex.DecodeString(name)
	if !found || err != nil || !slices.Contains(parties, Role(role)) {
		return Party{}, errors.New("wire: that is no party")
	}
	return Party{Role(role), string(raw)}, nil
}

// Key signs what a party says to its masters, and they to it.
type Key [sha256.Size]byte

// Format prints that it is a key, whatever the verb: none gets into a log.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(a key)") }

// MarshalText returns the key in hexadecimal digits, for the file of a credential.
func (k Key) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(k[:])), nil }

// UnmarshalText reads what MarshalText writes.
func (k *Key) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(k) {
		return errors.New("wire: that is no key")
	}
	copy(k[:], raw)
	return nil
}

// mac returns the MAC of texts, none of which has a line end.
func (k Key) mac(texts ...string) []byte {
	// The line ends keep apart what would be one text otherwise: ab and c, a and bc.
	h := hmac.New(sha256.New, k[:])
	for _, text := range texts {
		_, _ = io.WriteString(h, text+"\n") // a hash takes everything
	}
	return h.Sum(nil)
}

// Secret is what the masters of a cluster have, and nobody else.
type Secret struct{ key Key }

// NewSecret draws a secret.
func NewSecret() Secret {
	var s Secret
	_, _ = rand.Read(s.key[:]) // which never fails
	return s
}

// Format prints that it is a secret, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(a secret)") }

// MarshalText and UnmarshalText are for the file of the secret.
func (s Secret) MarshalText() ([]byte, error) { return s.key.MarshalText() }

// UnmarshalText reads what MarshalText writes.
func (s *Secret) UnmarshalText(text []byte) error { return s.key.UnmarshalText(text) }

// Cluster names the cluster, without telling its secret.
func (s Secret) Cluster() string { return hex.EncodeToString(s.key.mac("apportion cluster 1")[:8]) }

// Credential is what a party has to call its masters and to be called by them.
type Credential struct {
	Cluster string `json:"cluster"`
	Party   Party  `json:"party"`
	Key     Key    `json:"key"`
}

// Credential makes that of a party. The same party always has the same.
func (s Secret) Credential(p Party) Credential {
	// Nothing needs to be kept of who has one: it is computed from the name whenever somebody calls.
	return Credential{s.Cluster(), p, Key(s.key.mac("apportion party 1", p.String()))}
}

// ReadCredential reads the file of a credential, which is its JSON.
func ReadCredential(text []byte) (Credential, error) {
	var c Credential
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("wire: a credential: %w", err)
	}
	if c.Cluster == "" || !slices.Contains(parties, c.Party.Role) || c.Key == (Key{}) {
		return Credential{}, errors.New("wire: a credential without cluster, party or key")
	}
	return c, nil
}
