// This file implements checkpoints of loose files: which of the files that a directory holds belong together.

package format

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ErrAmbiguous: files lie side by side that may be the pieces of one checkpoint, or several checkpoints, and their
// names do not tell. Nothing is chosen then: the job has to name all its files in the acknowledgement, or the format
// has to be told the patterns of those that belong together.
var ErrAmbiguous = errors.New("format: it cannot be told which files belong together; name all of them in the acknowledgement")

// Of returns the format for a directory in which a job has named the files of its checkpoint. A format that cannot always
// see which files belong together has a method Of that returns it; every other is f itself. Files that are none of the
// format's are not looked at.
func Of(f Format, files []string) Format {
	if listing, ok := f.(interface{ Of(files []string) Format }); ok && len(files) > 0 {
		return listing.Of(files)
	}
	return f
}

// loose finds the checkpoints among files that lie side by side.
type loose struct {
	// patterns are those of the names, as in path.Match.
	patterns []string
	// together says that a checkpoint is one file for each pattern, all of one number.
	together bool
	// files are those of the one checkpoint, if the job has said which.
	files []string
	// steps is the number of steps that a number in a name stands for.
	steps int64
	// verify reads one file to its end.
	verify func(fsys fs.FS, name string) error
}

// whole is the name of a checkpoint of several files: the directory.
const whole = "."

// digits are what names of one series differ in.
var digits = regexp.MustCompile(`[0-9]+`)

// piece matches names of what is never a checkpoint by itself: one process's share of it, or the state of an
// optimizer or the like without the model.
// A model that is called like a piece costs its job one list of names; a piece that passed for a model would cost a checkpoint.
var piece = regexp.MustCompile(`(?i)(^|[^a-z])((rank|shard|part|split|worker|node|gpu|proc|mp|tp|pp|dp)[-_.=]?[0-9]|` +
	`[0-9][-_.]?of[-_.]?[0-9]|(optim|optimizer|opt|sched|scheduler|scaler|rng|random)(_?states?)?([^a-z]|$))`)

func match(pattern string, list []string) ([]string, error) {
	var matching []string
	for _, name := range list {
		ok, err := path.Match(pattern, path.Base(name))
		if err != nil {
			return nil, fmt.Errorf("format: pattern %q: %w", pattern, err)
		}
		if ok {
			matching = append(matching, name)
		}
	}
	return matching, nil
}

// of returns those of the files that belong to the format, ascending.
func (l *loose) of(files []string) []string {
	var mine []string
	for _, pattern := range l.patterns {
		matching, _ := match(pattern, files) // a pattern that is wrong is an error of the search
		mine = append(mine, matching...)
	}
	slices.Sort(mine)
	return slices.Compact(mine)
}

// newest implements [Format.Newest] for the format f.
// Of three ways the first that applies is taken: the files that the job has named, a file for each pattern, or
// a series of files by name. Of files that cannot be told apart none is verified: the error wraps ErrNone and
// ErrAmbiguous.
func (l *loose) newest(f Format, fsys fs.FS) (Found, error) {
	// There is one candidate, and so no older one: what the job has named is whole, or there is nothing.
	if l.files != nil {
		return newest(f, fsys, []candidate{{l.name(l.files), 0}})
	}
	list, err := names(fsys)
	if err != nil {
		return Found{}, err
	}
	byPattern := make([][]string, len(l.patterns))
	for i, pattern := range l.patterns {
		if byPattern[i], err = match(pattern, list); err != nil {
			return Found{}, err
		}
	}
	if l.together {
		return newest(f, fsys, together(byPattern))
	}
	all := l.of(list)
	if err := ambiguous(all); err != nil {
		return Found{}, fmt.Errorf("%w of %s: %w", ErrNone, f.Name(), err)
	}
	candidates := make([]candidate, len(all))
	for i, name := range all {
		candidates[i] = candidate{name, fileNumber(name)}
	}
	return newest(f, fsys, candidates)
}

// ambiguous returns an error unless the files are one series, each a checkpoint by itself.
func ambiguous(files []string) error {
	for _, name := range files {
		// Names that differ in more than their numbers are of two series: model-13.pt and optimizer-13.pt.
		if series(name) != series(files[0]) {
			return fmt.Errorf("%s and %s: %w", files[0], name, ErrAmbiguous)
		}
		if piece.MatchString(strings.TrimSuffix(name, path.Ext(name))) {
			return fmt.Errorf("%s seems to be a piece: %w", name, ErrAmbiguous)
		}
	}
	return nil
}

func series(name string) string { return digits.ReplaceAllString(name, "#") }

// together returns a candidate for each number that any file has, called by the file of the first pattern.
func together(byPattern [][]string) []candidate {
	seen := map[int64]bool{}
	var candidates []candidate
	for _, files := range byPattern {
		for _, name := range files {
			if number := fileNumber(name); !seen[number] {
				seen[number] = true
				candidates = append(candidates, candidate{name, number})
			}
		}
	}
	return candidates
}

func (l *loose) name(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return whole
}

// found implements [Format.Verify]: the checkpoint of a name with all its files.
func (l *loose) found(fsys fs.FS, name string) (Found, error) {
	files, called := []string{name}, name
	switch {
	case l.files != nil:
		if name != l.name(l.files) {
			return Found{}, incomplete(name, "it is not what the job has named")
		}
		files = slices.Clone(l.files)
	case l.together:
		var err error
		if files, err = l.siblings(fsys, name); err != nil {
			return Found{}, err
		}
		called = files[0]
		slices.Sort(files)
	default:
		if err := plain(name); err != nil {
			return Found{}, err
		}
	}
	number := fileNumber(files[0])
	for _, file := range files {
		if err := l.verify(fsys, file); err != nil {
			return Found{}, damaged(file, err)
		}
		// The numbers of shards are no steps.
		if fileNumber(file) != number {
			number = -1
		}
	}
	return Found{Name: called, Files: files, Step: steps(number, l.steps)}, nil
}

// siblings returns the files of the same number, one for each pattern, in their order.
// A pattern with two files of a number leaves open which is meant, and one without lacks a file: both make the
// number incomplete.
func (l *loose) siblings(fsys fs.FS, name string) ([]string, error) {
	list, err := names(fsys)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, pattern := range l.patterns {
		matching, err := match(pattern, list)
		if err != nil {
			return nil, err
		}
		matching = slices.DeleteFunc(matching, func(other string) bool { return fileNumber(other) != fileNumber(name) })
		if len(matching) != 1 {
			return nil, incomplete(name, "%d files of its number match %q", len(matching), pattern)
		}
		files = append(files, matching[0])
	}
	return files, nil
}
