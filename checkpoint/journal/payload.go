// This file implements the payload of a frame: one record as JSON, FORMAT.md "Payload".

package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
)

// Encode returns the payload of a record, see FORMAT.md. Records that are equal have the same payload: fields are in the order of
// the type, and keys of maps ascend.
func Encode(r checkpoint.Record) ([]byte, error) { return json.Marshal(r) }

// Decode reads a payload. It takes nothing but what Encode writes, byte for byte, so that a field that
// this version does not know is an error and not a loss.
func Decode(payload []byte) (checkpoint.Record, error) {
	// JSON costs some bytes and can be read without this program, which matters when a cluster does not
	// start.
	var r checkpoint.Record
	if err := json.Unmarshal(payload, &r); err != nil {
		return checkpoint.Record{}, err
	}
	// What is read must be what this version writes. Otherwise a field of a later version would be dropped
	// by the next snapshot without a word.
	again, err := Encode(r)
	if err != nil {
		return checkpoint.Record{}, err
	}
	if !bytes.Equal(again, payload) {
		return checkpoint.Record{}, fmt.Errorf("%d bytes that this version would not have written", len(payload))
	}
	return r, nil
}
