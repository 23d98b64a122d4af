// This file gives Resources their names: Kinds, and the readable text form "cpu=2 gpu=1".

package apportion

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kinds names the kinds of resources, in the order in which every [Resources] lists its
// quantities: Kinds{"cpu", "gpu", "memory"} and Resources{2, 1, 8}.
type Kinds []string

// Validate returns the faults of the list as [Faults]: an empty list, an empty or repeated name,
// a name with a space, "=" or a control character in it (such a name would not survive Format and
// Parse).
func (kinds Kinds) Validate() error {
	var faults Faults
	if len(kinds) == 0 {
		faults.Add(Item{}, "Kinds", ErrEmpty, "")
	}
	for k, name := range kinds {
		field := fmt.Sprintf("Kinds[%d]", k)
		switch {
		case name == "":
			faults.Add(Item{}, field, ErrEmpty, "")
		case strings.ContainsFunc(name, breaksText):
			faults.Add(Item{}, field, ErrRange, strconv.Quote(name)+" has a space, a control character or =")
		case slices.Index(kinds, name) < k:
			faults.Add(Item{}, field, ErrDuplicate, strconv.Quote(name))
		}
	}
	return faults.Err()
}

func breaksText(c rune) bool { return c == '=' || unicode.IsSpace(c) || unicode.IsControl(c) }

// Index returns the position of the kind called name, or -1.
func (kinds Kinds) Index(name string) int { return slices.Index(kinds, name) }

// Name returns the name of kind k, or "kind k" where the list has none, so that a message can be
// written before the list is known to be right.
func (kinds Kinds) Name(k int) string {
	if k >= 0 && k < len(kinds) {
		return kinds[k]
	}
	return "kind " + strconv.Itoa(k)
}

// Format returns r as text, every kind named, zeros too: "cpu=2 gpu=0 memory=8".
func (kinds Kinds) Format(r Resources) string {
	var text strings.Builder
	for k, q := range r {
		if k > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(kinds.Name(k))
		text.WriteByte('=')
		text.WriteString(strconv.FormatInt(q, 10))
	}
	return text.String()
}

// Parse reads the text form that Format writes. Kinds that the text leaves out are 0. An unknown
// or repeated kind, or a quantity that is not an integer in [0, math.MaxInt64], is an error that
// is a [*FieldError].
func (kinds Kinds) Parse(text string) (Resources, error) {
	r := make(Resources, len(kinds))
	seen := make([]bool, len(kinds))
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		k := kinds.Index(name)
		if k < 0 {
			return nil, &FieldError{Field: name, Detail: strconv.Quote(word), Err: ErrUnknown}
		}
		if seen[k] {
			return nil, &FieldError{Field: name, Detail: strconv.Quote(word), Err: ErrDuplicate}
		}
		seen[k] = true
		q, err := strconv.ParseInt(value, 10, 64)
		if err != nil || q < 0 {
			return nil, &FieldError{Field: name, Detail: strconv.Quote(word), Err: ErrRange}
		}
		r[k] = q
	}
	return r, nil
}
