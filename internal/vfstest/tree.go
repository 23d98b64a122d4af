// This file writes files in one call and shows a whole file system as text.

package vfstest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// WriteFile creates a file with a text and closes it, synced or not; its name is not durable before its
// directory is synced. It fails t where any of that fails.
func WriteFile(t testing.TB, fsys vfs.FS, name, text string, sync bool) {
	t.Helper()
	file, err := fsys.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(file, text); err != nil {
		t.Fatal(err)
	}
	if sync {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// Tree lists what lies below a directory, ascending by name: "d/ " for a directory, followed by what is in
// it, and "d/f=text " for a file. What cannot be read stands there as its error. "." is the whole file system.
func Tree(fsys vfs.FS, dir string) string {
	entries, err := fsys.List(dir)
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, e := range entries {
		// Names are those that the file system takes, which has no "./" before them.
		name := strings.TrimPrefix(dir+"/"+e.Name, "./")
		if e.Dir {
			fmt.Fprintf(&text, "%s/ %s", name, Tree(fsys, name))
		} else {
			fmt.Fprintf(&text, "%s=%s ", name, Content(fsys, name))
		}
	}
	return text.String()
}

// Content returns the text of a file, "missing" where it cannot be opened, and otherwise what went wrong.
func Content(fsys vfs.FS, name string) string {
	file, err := fsys.Open(name)
	if err != nil {
		return "missing"
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
