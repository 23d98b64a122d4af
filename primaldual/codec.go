// This file lets snapshots hold utilities of the caller's own types.
// Without codecs only the formulas of this package can be saved. Codecs belong to the options and
// not to a global table, so that two schedulers of one process do not depend on each other.

package primaldual

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// UtilityCodec saves and restores the utilities of one type of the caller's. A snapshot names the codec that wrote a
// utility, and is restored by the codec of that name.
type UtilityCodec struct {
	// Name is written into snapshots; not empty, unique among the codecs of a scheduler.
	Name string
	// Encode returns a utility as bytes, and false if it is of another type.
	Encode func(Utility) ([]byte, bool)
	// Decode returns the utility that Encode made the bytes of. An error makes the snapshot ErrCorrupt.
	Decode func([]byte) (Utility, error)
}

// cloneCodecs checks codecs and returns a copy of the list.
func cloneCodecs(codecs []UtilityCodec) ([]UtilityCodec, error) {
	var faults apportion.Faults
	seen := make(map[string]bool, len(codecs))
	for i, c := range codecs {
		field := "Codecs[" + strconv.Itoa(i) + "]"
		switch {
		// A codec without its functions would panic only when the first job is saved or restored,
		// long after the mistake.
		case c.Name == "" || c.Encode == nil || c.Decode == nil:
			faults.Add(apportion.Item{ID: "options"}, field, apportion.ErrEmpty, "")
		case seen[c.Name]:
			faults.Add(apportion.Item{ID: "options"}, field, apportion.ErrDuplicate, c.Name)
		}
		seen[c.Name] = true
	}
	return slices.Clone(codecs), faults.Err()
}

// writeByCodec appends a utility by the first codec that knows its type, and reports whether there is one.
func writeByCodec(w *writer, u Utility, codecs []UtilityCodec) bool {
	// Where two codecs know one type the first wins. The snapshot says which one it was, so that
	// reading does not depend on the order of the list.
	for _, c := range codecs {
		if data, ok := c.Encode(u); ok {
			w.int(ownUtility)
			w.string(c.Name)
			w.bytes(data)
			return true
		}
	}
	return false
}

// readByCodec reads what writeByCodec wrote.
func readByCodec(r *reader, codecs []UtilityCodec) Utility {
	// An unknown name is a fault: a job whose worth is not known cannot be planned again.
	name, data := string(r.bytes()), r.bytes()
	for _, c := range codecs {
		// After a fault data is empty: a codec of the caller's must not be asked about bytes that
		// are not there.
		if c.Name != name || r.failed {
			continue
		}
		// The codec gets bytes of its own: what it keeps of them must not change with the snapshot.
		if u, err := c.Decode(slices.Clone(data)); err == nil && u != nil {
			return u
		}
	}
	r.fail()
	return nil
}
