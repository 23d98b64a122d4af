// This file chooses the instances that a study looks at.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apportion/apportion/alloc/alloctest"
)

// references returns the instances that were asked for by name: those of alloctest, or of a folder.
func (o *options) references() ([]alloctest.Reference, error) {
	references := alloctest.References()
	if o.data != "" {
		var err error
		if references, err = readFolder(o.data); err != nil {
			return nil, err
		}
	}
	references = slices.DeleteFunc(references, func(r alloctest.Reference) bool { return !o.instances.MatchString(r.Name) })
	if len(references) == 0 {
		return nil, fmt.Errorf("no instance has a name like %q", o.instances)
	}
	return references, nil
}

// readFolder reads all instances of a folder, in the order of their names.
func readFolder(folder string) ([]alloctest.Reference, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var references []alloctest.Reference
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		file := filepath.Join(folder, entry.Name())
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		ref, err := alloctest.ReadReference(strings.TrimSuffix(filepath.Base(file), ".json"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		references = append(references, ref)
	}
	return references, nil
}
