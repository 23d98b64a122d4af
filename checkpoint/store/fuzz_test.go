// This file fuzzes the parser of manifests, which reads what others may have written.

package store

import (
	"bytes"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// FuzzDecode demands that what is read is exactly what would be written again. The body is sealed by the
// test as well, so that the fuzzer gets behind the checksum.
func FuzzDecode(f *testing.F) {
	for _, r := range []Stored{inline(), record(), record("weights"), record("a", "a/b")} {
		data := must.Have(Encode(r))(f)
		f.Add(data)
		f.Add(data[headerBytes:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, input := range [][]byte{data, seal(string(data))} {
			r, err := decodeOf(input, "lr", 7)
			if err != nil {
				must.Err(t, err, ErrCorrupt, "error")
				continue
			}
			again, err := Encode(r)
			if err != nil || !bytes.Equal(again, input) {
				t.Fatalf("read\n%s\nwould be written\n%s\nerror %v", input, again, err)
			}
			if r.Job != "lr" || r.Number != 7 {
				t.Fatalf("a manifest of %s/%d was read", r.Job, r.Number)
			}
		}
	})
}
