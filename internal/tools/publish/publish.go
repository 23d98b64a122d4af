// This program makes a release of the commit that is checked out in a repository: modules as a proxy has them, programs, a container image,
// a wheel, the site, notes, what has changed in the interface since the last tag, checksums, and a clone with the tags to push. The same commit makes
// the same files.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// parts are what can be left out, to try the rest.
var parts = []string{"programs", "image", "wheels", "site"}

func main() {
	r := &release{log: os.Stdout}
	flag.StringVar(&r.version, "version", "", "the version, as v0.1.0")
	flag.StringVar(&r.out, "out", "", "the folder to write, which must not be there or be empty")
	with := flag.String("parts", strings.Join(parts, ","), "what to make beside modules, tags, notes and checksums")
	platforms := flag.String("platforms", strings.Join(allPlatforms, ","), "the platforms of programs, as linux/amd64")
	flag.Parse()
	r.parts, r.platforms = strings.Split(*with, ","), strings.Split(*platforms, ",")
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: publish -version VERSION -out FOLDER REPOSITORY")
		os.Exit(2)
	}
	r.root = flag.Arg(0)
	if err := r.make(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// check returns what is wrong with the question.
func (r *release) check() error {
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version {
		return fmt.Errorf("%q is no version as v0.1.0", r.version)
	}
	for _, part := range r.parts {
		if part != "" && !slices.Contains(parts, part) {
			return fmt.Errorf("there is no part %q: %q", part, parts)
		}
	}
	if r.out == "" {
		return fmt.Errorf("no folder to write into")
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	r.out = out
	if entries, err := os.ReadDir(r.out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", r.out)
	}
	return nil
}
