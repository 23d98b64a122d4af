// This program takes the replace directives between the modules of a work tree out of the go.mod files below a folder, for the
// commit that the tags of these modules name: the go command installs no program of a module that has any.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: publish FOLDER")
		os.Exit(2)
	}
	if err := release(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// release writes the go.mod of every module below a folder as it is published.
func release(folder string) error {
	modules, err := published(folder)
	if err != nil {
		return err
	}
	for _, dir := range modules {
		name := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(name)
		if err == nil {
			text, err = released(text)
		}
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// published lists the folders of the modules below a folder that others fetch: all but those that only pin what a test
// cluster is built from.
func published(folder string) (modules []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		base := filepath.Base(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "cluster"}, base)):
			return fs.SkipDir
		case base == "go.mod":
			modules = append(modules, filepath.Dir(path))
		}
		return nil
	})
	return modules, err
}

// released is a go.mod without the directives that replace modules by folders. A module that replaces another by what a
// proxy has cannot be released.
func released(mod []byte) ([]byte, error) {
	f, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range f.Replace {
		if !modfile.IsDirectoryPath(r.New.Path) {
			return nil, fmt.Errorf("it replaces %s by %s: nobody who installs a program of it would get that", r.Old.Path, r.New.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}
