// This file holds what is said and searched for when the library is looked for.

package ortools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// EnvLibrary is the environment variable that names the folder of the libraries, or one of them. It
// counts where a back-end's Library is empty.
const EnvLibrary = "APPORTION_ORTOOLS_LIB"

// ErrUnavailable reports that an engine cannot be had: the package was built without cgo, the
// library was not found, has another version, or lacks a function. The error that wraps it names
// the places searched.
var ErrUnavailable = errors.New("ortools: library not available")

// The versions of OR-Tools that are called: this major one, from this minor one on. Tested with 9.15,
// whose CP-SAT has the interface with an environment.
const wantMajor, wantMinor = 9, 15

const howToInstall = "install OR-Tools 9.15 (alloc/milp/ortools/fetch.sh FOLDER unpacks it from the official Python wheel)" +
	" and set " + EnvLibrary + " to the folder of its shared libraries"

// unavailable wraps ErrUnavailable.
func unavailable(why string, searched []string) error {
	return fmt.Errorf("%w: %s; searched: %s; %s", ErrUnavailable, why, strings.Join(searched, ", "), howToInstall)
}

// wheelFolder is where the libraries are below the folder of an installed or unpacked Python wheel.
const wheelFolder = "ortools/.libs"

// place is where a back-end looks: its own Library, else the environment variable, else "", which
// means the usual places of the system's loader. The folder may also be the one that holds the Python
// package.
func place(library string) string {
	if library == "" {
		library = os.Getenv(EnvLibrary)
	}
	if library == "" {
		return ""
	}
	// The loader takes a name without a slash for one to be searched; an absolute path is never
	// searched.
	if absolute, err := filepath.Abs(library); err == nil {
		library = absolute
	}
	// A file stands for its folder, as the libraries depend on each other and lie together.
	if info, err := os.Stat(library); err == nil && !info.IsDir() {
		library = filepath.Dir(library)
	}
	if wheel := filepath.Join(library, wheelFolder); isFolder(wheel) {
		return wheel
	}
	return library
}

// isFolder reports whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// candidates returns what to hand to the loader, in order.
func candidates(folder string, names []string) []string {
	// Bare names make the system's loader search its own places.
	if folder == "" {
		return names
	}
	paths := make([]string, len(names))
	for k, name := range names {
		paths[k] = filepath.Join(folder, name)
	}
	return paths
}

// stopOn calls stop once when ctx ends before the returned function is called. That function
// returns only when stop cannot run any more, so what stop uses may be freed then.
// The watcher is a goroutine of its own, since C code that searches cannot look at a context. The
// returned function is called once.
func stopOn(ctx context.Context, stop func()) (finish func()) {
	var watcher sync.WaitGroup
	ended := make(chan struct{})
	// The watcher ends in either case: with ctx, or when finish closes ended.
	watcher.Go(func() {
		select {
		case <-ctx.Done():
			stop()
		case <-ended:
		}
	})
	return func() {
		close(ended)
		// Without the wait stop could run on memory that the caller frees next.
		watcher.Wait()
	}
}
