// This file implements the text form of Digest.

package store

import (
	"encoding/hex"
	"fmt"
)

// String returns the digest as 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns what String returns. It never fails.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads exactly what MarshalText writes: 64 hexadecimal digits, lower case. Everything
// else is an error, and leaves the digest as it was.
func (d *Digest) UnmarshalText(text []byte) error {
	var read Digest
	if len(text) != hex.EncodedLen(len(read)) {
		return fmt.Errorf("checkpoint: a digest has %d hexadecimal digits, not %d", hex.EncodedLen(len(read)), len(text))
	}
	if _, err := hex.Decode(read[:], text); err != nil {
		return fmt.Errorf("checkpoint: digest: %w", err)
	}
	if read.String() != string(text) {
		return fmt.Errorf("checkpoint: digest %q is not in lower case", text)
	}
	*d = read
	return nil
}
