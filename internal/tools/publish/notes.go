// This file writes the notes of a release.

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stability says of every package that others import how settled it is.
//
//go:embed stability.txt
var stability string

// notes writes what the changelog says of the version, how the interface has changed, and what is stable.
func (r *release) notes(context.Context) error {
	text, err := os.ReadFile(filepath.Join(r.clone, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	changed, err := section(string(text), r.version)
	if err != nil {
		return err
	}
	notes := fmt.Sprintf("# %s\n\n%s\n\n## Interface\n\n%s\n## What is stable\n\n```text\n%s```\n", r.version, changed, r.changes, stability)
	return os.WriteFile(filepath.Join(r.out, "NOTES.md"), []byte(notes), 0o644)
}

// section is what a changelog says of a version: below its own heading, else below that of what is not released yet.
func section(changelog, version string) (string, error) {
	for _, heading := range []string{"\n## " + strings.TrimPrefix(version, "v"), "\n## " + version, "\n## Unreleased"} {
		_, rest, ok := strings.Cut(changelog, heading)
		if !ok || !strings.HasPrefix(strings.TrimLeft(rest, "0123456789- "), "\n") {
			continue
		}
		_, rest, _ = strings.Cut(rest, "\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		if strings.TrimSpace(rest) != "" {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md says nothing of %s", version)
}
