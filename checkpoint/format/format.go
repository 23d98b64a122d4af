// This file declares what a format is and implements the search that all of them share: the newest
// candidate that is complete.

package format

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/runner"
)

var (
	// ErrNone: the directory holds no complete checkpoint of the format.
	ErrNone = errors.New("format: no complete checkpoint")
	// ErrIncomplete: a checkpoint is half-written or damaged. The error around it names the file and
	// what is wrong with it.
	ErrIncomplete = errors.New("is not complete")
)

// Format knows how the checkpoints of one training framework look on a disk. It reads one directory,
// not those below it, and never writes. Its files must be regular and implement io.ReaderAt, as those
// of os.Root.FS and os.DirFS do; the first also keeps links from leading out of the directory.
type Format interface {
	// Name is the framework's name in lower case.
	Name() string
	// Newest returns the newest complete checkpoint: of the candidates, newest first, the first that
	// Verify accepts. Without one the error wraps ErrNone and the reason for each candidate. It costs
	// as much as Verify of every candidate that is not complete and of the first that is.
	Newest(fsys fs.FS) (Found, error)
	// Verify reads the checkpoint of a name that Found.Name has, or that the framework was given when
	// it saved. A checkpoint that is not complete makes an error that wraps ErrIncomplete.
	Verify(fsys fs.FS, name string) (Found, error)
}

// Found is a complete checkpoint in a directory.
type Found struct {
	// Name is what the framework loads it by: the prefix of its files, or the file itself.
	Name string `json:"name"`
	// Files are the files that make it, ascending.
	Files []string `json:"files"`
	// Step is the number of training steps that it holds; -1 if the format does not tell.
	Step int64 `json:"step"`
	// Skipped are the newer candidates that were passed over, newest first.
	Skipped []Skip `json:"skipped,omitempty"`
}

// Skip is a candidate that is not complete.
type Skip struct {
	// Name is what the framework would load it by.
	Name string `json:"name"`
	// Reason names the file and says what is wrong with it.
	Reason string `json:"reason"`
}

// Saved returns the checkpoint as the protocol knows it; dir is the directory that was searched.
func (f Found) Saved(dir string) runner.Saved {
	return runner.Saved{Dir: dir, Files: slices.Clone(f.Files), Step: f.Step}
}

// candidate is a checkpoint that a directory seems to hold. A number of -1 stands for none.
type candidate struct {
	name   string
	number int64
}

// newest verifies candidates in the order of their numbers, highest first, equal ones by name, until
// one is complete.
func newest(f Format, fsys fs.FS, candidates []candidate) (Found, error) {
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.number, a.number), strings.Compare(b.name, a.name))
	})
	var skipped []Skip
	faults := []error{fmt.Errorf("%w of %s", ErrNone, f.Name())}
	for _, c := range candidates {
		found, err := f.Verify(fsys, c.name)
		if err == nil {
			found.Skipped = skipped
			return found, nil
		}
		skipped = append(skipped, Skip{c.name, err.Error()})
		faults = append(faults, err)
	}
	return Found{}, errors.Join(faults...)
}

// single is a Format each of whose checkpoints is one file, as data.
type single struct {
	name, ending string
	// number orders the files of the ending, the newest highest.
	number func(fsys fs.FS, name string) int64
	// verify reads a file, and returns its step.
	verify func(fsys fs.FS, name string) (step int64, err error)
}

func (f single) Name() string { return f.name }

func (f single) Newest(fsys fs.FS) (Found, error) {
	return newestFile(f, fsys, func(name string) (candidate, bool) {
		if path.Ext(name) != f.ending {
			return candidate{}, false
		}
		return candidate{name, f.number(fsys, name)}, true
	})
}

// Verify implements [Format]; name is the file.
func (f single) Verify(fsys fs.FS, name string) (Found, error) {
	if err := plain(name); err != nil {
		return Found{}, err
	}
	step, err := f.verify(fsys, name)
	if err != nil {
		return Found{}, damaged(name, err)
	}
	return Found{Name: name, Files: []string{name}, Step: step}, nil
}

// newestFile is newest among the files of the directory: like returns the candidate that a file's name makes, if any.
func newestFile(f Format, fsys fs.FS, like func(name string) (candidate, bool)) (Found, error) {
	list, err := names(fsys)
	if err != nil {
		return Found{}, err
	}
	var candidates []candidate
	for _, name := range list {
		if c, ok := like(name); ok {
			candidates = append(candidates, c)
		}
	}
	return newest(f, fsys, candidates)
}

// names returns the names of the files in the directory that may belong to checkpoints: regular ones
// and links, ascending.
func names(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	var list []string
	for _, e := range entries {
		// A link may lead to a checkpoint beside. Where it leads is looked at when it is opened; pipes and
		// directories never make one.
		if e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0 {
			list = append(list, e.Name())
		}
	}
	return list, nil
}

func incomplete(file, reason string, args ...any) error {
	return fmt.Errorf("%s %w: %s", file, ErrIncomplete, fmt.Sprintf(reason, args...))
}

func damaged(file string, err error) error {
	// The innermost file is the one at fault: an error that names it is passed through as it is.
	if err == nil || errors.Is(err, ErrIncomplete) {
		return err
	}
	return fmt.Errorf("%s %w: %w", file, ErrIncomplete, err)
}

// plain refuses names that are not those of a file in the directory itself.
func plain(name string) error {
	// The name may come from a job. "." would be the directory, and a slash would leave it.
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, '/') {
		return incomplete(strconv.Quote(name), "not the name of a file in the directory")
	}
	return nil
}

// lastNumber matches the last run of digits in a name.
var lastNumber = regexp.MustCompile(`([0-9]+)[^0-9]*$`)

// number returns the last decimal number in a name, -1 if there is none or it overflows.
func number(name string) int64 {
	match := lastNumber.FindStringSubmatch(name)
	if match == nil {
		return -1
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// steps returns the steps that a number stands for, -1 where that is not known.
func steps(number, stepsPerNumber int64) int64 {
	const most = 1 << 62 // far more than any job makes, and the product of less cannot overflow
	if number < 0 || stepsPerNumber <= 0 || number > most/stepsPerNumber {
		return -1
	}
	return number * stepsPerNumber
}
