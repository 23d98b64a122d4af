// This file holds Options: what a caller knows about a text beyond the type of its value.

package strictjson

import "github.com/apportion/apportion"

// Options say what the types do not. The zero value and nil: there is nothing to say.
type Options struct {
	// Items maps the path of a JSON object with any keys to the kind of thing that its keys name:
	// {"previous": "application"}. Faults in an entry then name that item. The elements of lists need
	// no such entry: a struct with an ID is an item, and the name of its type the kind.
	Items map[string]string
	// Keys returns the keys that the object with that path must have, each of them and no other; nil: it
	// may have any.
	Keys func(path string) []string
	// Item names what the whole text is about, for faults of no other item. It is called when the value
	// has been set.
	Item func() apportion.Item
	// Kinds names the quantities of resources in faults. It is called when the value has been set.
	Kinds func() apportion.Kinds
	// Validate returns what else is wrong with the value that was read, as apportion.Faults whose fields
	// have the names of Go; any other error is returned as it is. Faults that only follow from one of the
	// text are left out.
	Validate func() error
}
