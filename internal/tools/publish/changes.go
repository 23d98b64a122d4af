// This file compares the interface of the library with that of the last tag.

package main

import (
	"context"
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

// compare says what has changed in the public packages of the library since the last tag. A version that only repairs, as v0.1.1,
// may change nothing that an importer could have used.
func (r *release) compare(ctx context.Context) error {
	listed, err := r.command(ctx, r.clone, nil, "git", "tag", "--list", "v*", "--merged", "HEAD")
	if err != nil {
		return err
	}
	var last string
	for _, tag := range strings.Fields(listed) {
		if semver.IsValid(tag) && (last == "" || semver.Compare(tag, last) > 0) {
			last = tag
		}
	}
	switch {
	case last == "":
		r.changes = "No version is tagged: there is nothing to compare with.\n"
		return nil
	case semver.Compare(r.version, last) <= 0:
		return fmt.Errorf("%s is not above %s, the last tag", r.version, last)
	}
	before := filepath.Join(r.out, "before")
	if _, err := r.command(ctx, r.clone, nil, "git", "worktree", "add", "-q", "--detach", before, last); err != nil {
		return err
	}
	report, err := difference(ctx, before, r.clone)
	if err != nil {
		return err
	}
	if _, err := r.command(ctx, r.clone, nil, "git", "worktree", "remove", "--force", before); err != nil {
		return err
	}
	r.changes = fmt.Sprintf("Against %s:\n\n%s", last, report)
	breaks := slices.ContainsFunc(report.Changes, func(c apidiff.Change) bool { return !c.Compatible })
	if breaks && semver.MajorMinor(r.version) == semver.MajorMinor(last) {
		return fmt.Errorf("%s breaks what %s has:\n%s", r.version, last, report)
	}
	return nil
}

// difference is what has changed between the public packages of two folders of one module.
func difference(ctx context.Context, before, after string) (apidiff.Report, error) {
	old, err := public(ctx, before)
	if err != nil {
		return apidiff.Report{}, err
	}
	now, err := public(ctx, after)
	if err != nil {
		return apidiff.Report{}, err
	}
	return apidiff.ModuleChanges(old, now), nil
}

func public(ctx context.Context, folder string) (*apidiff.Module, error) {
	loaded, err := packages.Load(&packages.Config{Context: ctx, Dir: folder,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedModule}, "./...")
	if err != nil {
		return nil, err
	}
	m := &apidiff.Module{}
	for _, p := range loaded {
		switch {
		case len(p.Errors) > 0:
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		case p.Name == "main" || slices.Contains(strings.Split(p.PkgPath, "/"), "internal"):
			continue
		}
		m.Path = p.Module.Path
		m.Packages = append(m.Packages, p.Types)
	}
	slices.SortFunc(m.Packages, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return m, nil
}
