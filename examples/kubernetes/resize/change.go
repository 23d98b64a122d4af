// This file implements Changes: the patches that carry a decision out.

package resize

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/apportion/apportion/alloc"
)

// Change sets the number of pods of one object.
type Change struct {
	// ID is the application, see [Item.ID].
	ID string `json:"id"`
	// Item is the object as it was read.
	Item *Item `json:"-"`
	// From and To are numbers of pods; a suspended object has none.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Subresource is what is patched of the object; empty: itself.
	Subresource string `json:"subresource,omitempty"`
	// Patch is a JSON patch, RFC 6902, that holds for the version that was read only.
	Patch json.RawMessage `json:"patch"`
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Changes returns what a decision on the problem of the reading changes: first who gives, then who gets, each by ID.
func (r *Reading) Changes(d *alloc.Decision) ([]Change, error) {
	var list []Change
	for i := range d.Shares {
		share := &d.Shares[i]
		c, err := r.items[share.ID].Change(share.Containers, d.Allocation[share.ID])
		if err != nil {
			return nil, err
		}
		if c != nil {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b Change) int {
		gives := func(c *Change) int {
			if c.To < c.From {
				return 0
			}
			return 1
		}
		return cmp.Or(gives(&a)-gives(&b), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Change returns what gives an object a number of pods, nil if it has that, or if only Kueue could do it. plan says where a decision has them, and is written
// down beside; nil: nobody knows.
func (i *Item) Change(to int64, plan map[string]int64) (*Change, error) {
	count, suspended, err := i.count()
	if err != nil {
		return nil, err
	}
	c := &Change{ID: i.ID(), Item: i, From: count, To: to}
	if suspended {
		c.From = 0
	}
	// Who runs at all is Kueue's to say of its objects.
	if c.From == c.To || c.To == 0 && i.isKueues() {
		return nil, nil
	}
	version := operation{"test", "/metadata/resourceVersion", i.Object.GetResourceVersion()}
	suspend := c.To == 0 && i.Kind.Suspend != ""
	if i.Kind.Scale && suspend == suspended {
		c.Subresource = "scale"
		return c, c.write(version, operation{"replace", "/spec/replicas", c.To})
	}
	operations := []operation{version}
	if suspend != suspended {
		more, err := i.set(i.Kind.Suspend, suspend)
		if err != nil {
			return nil, err
		}
		operations = append(operations, more...)
	}
	// What is suspended keeps its count: many controllers refuse 0.
	if !suspend && c.To != count {
		more, err := i.setCounts(count, c.To)
		if err != nil {
			return nil, err
		}
		operations = append(operations, more...)
	}
	if plan != nil {
		// It is an object with annotations, or nobody would have asked for it.
		text, err := json.Marshal(plan)
		if err != nil {
			return nil, err
		}
		operations = append(operations, operation{"add", "/metadata/annotations/" + escape.Replace(Plan), string(text)})
	}
	return c, c.write(operations...)
}

// setCounts changes the first count, and those that say the same, as an Indexed Job's completions do.
func (i *Item) setCounts(from, to int64) ([]operation, error) {
	var list []operation
	for at, field := range i.Kind.Counts {
		n, err := number(i.Object.Object, field, -1)
		if err != nil {
			return nil, err
		}
		if at > 0 && n != from {
			continue
		}
		more, err := i.set(field, to)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// set returns what sets a field, and makes the fields above it that are not there: a patch of one that has no parent is
// refused.
func (i *Item) set(path string, value any) ([]operation, error) {
	var list []operation
	for at := range path {
		if path[at] != '.' {
			continue
		}
		above, err := get(i.Object.Object, path[:at])
		if err != nil {
			return nil, err
		}
		if above == nil {
			to, err := pointer(path[:at])
			if err != nil {
				return nil, err
			}
			list = append(list, operation{"add", to, struct{}{}})
		}
	}
	to, err := pointer(path)
	return append(list, operation{"add", to, value}), err
}

func (c *Change) write(operations ...operation) (err error) {
	c.Patch, err = json.Marshal(operations)
	return err
}
