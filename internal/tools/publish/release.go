// This file makes a release, step by step.

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// release is one that is being made.
type release struct {
	root, out, version string
	parts, platforms   []string
	log                io.Writer
	only               []string // the programs that a test builds; nil: all

	clone   string   // of the repository, at the commit that is released
	modules []string // their folders in the clone
	changes string   // of the interface since the last tag
}

func (r *release) make(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	r.clone = filepath.Join(r.out, "repository")
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"clone", r.copy}, {"modules", r.pack}, {"interface", r.compare}, {"programs", r.programs}, {"image", r.image}, {"wheels", r.wheels}, {"site", r.site},
		{"tags", r.tag}, {"notes", r.notes}, {"checksums", r.checksums},
	} {
		if slices.Contains(parts, step.name) && !slices.Contains(r.parts, step.name) {
			continue
		}
		fmt.Fprintln(r.log, "#", step.name)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// command runs a program and returns what it prints.
func (r *release) command(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// copy clones the repository, so that nothing is released that is not in its commit.
func (r *release) copy(ctx context.Context) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if _, err := r.command(ctx, "", nil, "git", "clone", "-q", "--no-hardlinks", r.root, r.clone); err != nil {
		return err
	}
	tagged, err := r.command(ctx, r.clone, nil, "git", "tag", "--list", r.version)
	if err == nil && tagged != "" {
		err = fmt.Errorf("%s is tagged already", r.version)
	}
	return err
}

// pack packs every module, as a proxy has it.
func (r *release) pack(context.Context) (err error) {
	if r.modules, err = published(r.clone); err != nil {
		return err
	}
	for _, folder := range r.modules {
		if _, err := pack(filepath.Join(r.out, "modules"), folder, r.version); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

// tag tags the commit as the library, and one beside it, whose go.mod files have no directives of a work tree, as all other
// modules: the go command installs no program of a module that has any.
func (r *release) tag(ctx context.Context) error {
	if err := strip(r.modules); err != nil {
		return err
	}
	who, err := r.command(ctx, r.clone, nil, "git", "show", "-s", "--format=%an%n%ae%n%aI")
	if err != nil {
		return err
	}
	lines := strings.Split(who, "\n")
	env := []string{"GIT_AUTHOR_NAME=" + lines[0], "GIT_AUTHOR_EMAIL=" + lines[1], "GIT_AUTHOR_DATE=" + lines[2],
		"GIT_COMMITTER_NAME=" + lines[0], "GIT_COMMITTER_EMAIL=" + lines[1], "GIT_COMMITTER_DATE=" + lines[2]}
	for _, args := range [][]string{{"tag", r.version}, {"checkout", "-q", "--detach"}, {"commit", "-q", "-a", "--no-verify", "--no-gpg-sign", "--allow-empty", "-m", "release: " + r.version}} {
		if _, err := r.command(ctx, r.clone, env, append([]string{"git", "-c", "tag.gpgSign=false"}, args...)...); err != nil {
			return err
		}
	}
	var tags []string
	for _, folder := range r.modules {
		rel, err := filepath.Rel(r.clone, folder)
		if err != nil {
			return err
		}
		name := r.version
		if rel != "." {
			name = filepath.ToSlash(rel) + "/" + r.version
			if _, err := r.command(ctx, r.clone, nil, "git", "tag", name); err != nil {
				return err
			}
		}
		commit, err := r.command(ctx, r.clone, nil, "git", "rev-parse", name)
		if err != nil {
			return err
		}
		tags = append(tags, commit+" "+name)
	}
	text := strings.Join(tags, "\n") + "\n"
	fmt.Fprintf(r.log, "%s# they are in %s: git push ORIGIN --tags\n", text, r.clone)
	return os.WriteFile(filepath.Join(r.out, "TAGS"), []byte(text), 0o644)
}

// strip takes the directives that replace modules by folders out of the go.mod files of modules.
func strip(modules []string) error {
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

// checksums writes the sums of all files but those of the clone, as sha256sum -c reads them.
func (r *release) checksums(context.Context) error {
	var text strings.Builder
	err := filepath.WalkDir(r.out, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == r.clone:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(text.String()), 0o644)
}
