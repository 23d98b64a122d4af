// This file implements Save: a job is asked for a checkpoint, and believed when the files are there.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/regular"
)

// Acknowledgement is what a job writes into the file APPORTION_SAVE_ACK when a checkpoint is complete: a
// JSON object, best under another name that is then renamed. One that cannot be read yet is read again.
type Acknowledgement struct {
	// Request is the number that the request file held when the save began, or a later one.
	Request int64 `json:"request"`
	// Step is the number of steps that the checkpoint holds, if known.
	Step *int64 `json:"step,omitempty"`
	// Files make the checkpoint, relative to APPORTION_CHECKPOINT_DIR. Those that the format of the
	// framework finds by itself need not be listed. Where it cannot tell which files belong together, which
	// is an error that wraps format.ErrAmbiguous, all of them must be.
	Files []string `json:"files,omitempty"`
	// Given says that the job gives the files of the checkpoint away, those that a format finds as well: it has closed them,
	// never opens them again, and does not mind that they are gone when they have been saved. A store on the same disk then
	// need not write them once more. See Options.Given.
	Given bool `json:"given,omitempty"`
}

// Save implements [runner.Runner]. It writes a new number into the request file, sends the signal,
// and waits for a checkpoint: with Acknowledge, or without a Format, for the acknowledgement of that
// number; with a Format, for a checkpoint that it accepts and, where no acknowledgement is demanded, that
// was not there before. Files that are named and missing, and those that lead out of the directory, make
// no checkpoint.
//
// When nothing of the run is alive any more, the newest checkpoint in its directory is the newest state
// that there is, and Save returns it, whatever its age. It returns none once the run was stopped or another
// attempt has begun. The job must leave the files as they are until it is asked again.
//
// The error wraps that of the context when it ends first, and says what was missing.
func (a *Runner) Save(ctx context.Context, run runner.Run) (runner.Saved, error) {
	saved, err := a.save(ctx, &run)
	return saved, named("save", &run, err)
}

// save is Save without the words around its errors.
func (a *Runner) save(ctx context.Context, run *runner.Run) (runner.Saved, error) {
	// Save raises nothing: a question about an attempt must not end the one that is running.
	folder, err := a.enter(run)
	if err != nil {
		return runner.Saved{}, err
	}
	if err := a.folder(run.Job).live(run.Attempt); err != nil {
		return runner.Saved{}, err
	}
	mark, err := folder.mark()
	if err == nil && len(mark.Ranks) == 0 {
		err = ErrNotStarted
	}
	if err != nil {
		return runner.Saved{}, err
	}
	// The state of one call lives here and not in the runner: calls for one run may overlap, each with a
	// number of its own.
	s := &saving{Runner: a, run: run, folder: folder}
	// The watch begins before the request, so that no answer comes in between.
	told := watching(s.answers()...)
	defer told.close()
	if err := s.request(ctx, mark.Ranks); err != nil {
		return runner.Saved{}, err
	}
	for pace := a.paced(told); ; {
		// Asked before the files are looked at: what is written before the end is then seen.
		alive, err := a.running(ctx, a.folder(run.Job), folder, mark.Ranks)
		if err != nil {
			return runner.Saved{}, err
		}
		// What was written while this looked is found in the next round.
		saved, missing := s.look(alive)
		// The fence is asked once more after the files were looked at: what a stopped run has left is not
		// the newest state of the job.
		if err := a.folder(run.Job).live(run.Attempt); err != nil {
			return runner.Saved{}, err
		}
		// Nobody is left who could write what is missing.
		if missing != nil && !alive {
			return runner.Saved{}, fmt.Errorf("nothing of the run is alive: %w", missing)
		}
		if missing == nil {
			return saved, nil
		}
		if err := pace.pause(ctx); err != nil {
			return runner.Saved{}, fmt.Errorf("%w: %w", err, missing)
		}
	}
}

type saving struct {
	*Runner
	run    *runner.Run
	folder runFolder
	number int64
	// before is the newest checkpoint before the request.
	before []os.FileInfo
	// listing is the directory before it was last verified, at what time, for how long, the outcome, and
	// the files of the checkpoint before they were read.
	listing  listing
	files    []os.FileInfo
	verified time.Time
	took     time.Duration
	found    format.Found
	err      error
}

// answers returns the folders in which the answer to the request shows: a file comes into one of them. A checkpoint that its format finds
// may lie deeper, which is not told.
func (s *saving) answers() []string {
	folders := []string{s.folder.own()}
	if s.options.Format != nil && !s.options.Acknowledge {
		folders = append(folders, s.run.Dir)
	}
	return folders
}

// request asks for a save under a number that was not used before.
func (s *saving) request(ctx context.Context, ranks []int) error {
	// What is there before the request does not answer it. Only where an acknowledgement does is this of no
	// use.
	if s.options.Format != nil && !s.options.Acknowledge {
		if found, err := s.newest(s.run.Dir, nil); err == nil {
			s.before = stat(s.run.Dir, found.Files)
		}
	}
	// Two requests must not get one number.
	unlock, err := s.lock(ctx, s.Runner.folder(s.run.Job))
	if err != nil {
		return err
	}
	defer unlock()
	// The number goes on where an earlier runner stopped: an acknowledgement of its request must not answer
	// this one.
	if err := get(s.folder.request(), &s.number); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.number++
	// After a crash of the machine nobody runs who could read it, so it need not be durable.
	if err := put(s.folder.request(), s.number, s.readable); err != nil {
		return err
	}
	if s.options.Signal == nil {
		return nil
	}
	// The file is there before the first signal: who is woken up finds the request.
	for _, rank := range ranks {
		var p process
		if err := get(s.folder.process(rank), &p); err == nil {
			_ = s.signal(p, s.options.Signal) // it may have ended, which is seen below
		}
	}
	return nil
}

// look returns the checkpoint if it is there, else an error that says what is missing. Of a run that is
// not alive, any complete checkpoint will do.
func (s *saving) look(alive bool) (runner.Saved, error) {
	saved := runner.Saved{Dir: s.run.Dir, Step: -1, Given: s.options.Given}
	if s.options.Format == nil || s.options.Acknowledge {
		var ack Acknowledgement
		err := get(s.folder.acknowledgement(), &ack)
		// Of the dead an acknowledgement of an earlier request is as good: nothing newer can come.
		if errors.Is(err, fs.ErrNotExist) || err == nil && alive && ack.Request < s.number {
			err = fmt.Errorf("request %d is not answered", s.number)
		}
		if err == nil {
			err = s.listed(ack.Files)
		}
		if err == nil {
			saved.Files = slices.Clone(ack.Files)
			saved.Given = saved.Given || ack.Given
			// Steps below -1 mean nothing; -1 is not known.
			if ack.Step != nil {
				saved.Step = max(-1, *ack.Step)
			}
		} else if alive || s.options.Format == nil {
			return runner.Saved{}, err
		}
	}
	if s.options.Format != nil {
		if err := s.verify(alive, saved.Files); err != nil {
			return runner.Saved{}, err
		}
		saved.Files = append(saved.Files, s.found.Files...)
		if s.found.Step >= 0 {
			saved.Step = s.found.Step
		}
	}
	slices.Sort(saved.Files)
	saved.Files = slices.Compact(saved.Files)
	if len(saved.Files) == 0 {
		return runner.Saved{}, errors.New("the acknowledgement names no files, and there is no format to find them")
	}
	return saved, s.owned(saved.Files)
}

func (s *saving) listed(files []string) error {
	// The names come from the job. The root keeps them, and links below it, inside of the directory.
	root, err := os.OpenRoot(s.run.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range files {
		if err := store.CheckPart(name); err != nil {
			return err
		}
		info, err := root.Stat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
	}
	return nil
}

// again is when a directory is verified again that seems unchanged: a file can change twice in one tick of
// the clock that the file system keeps.
const again = time.Second

// verify finds the newest complete checkpoint in the run's directory, of which the job has named these files. While
// the job writes, it is done only when the directory has changed, and for at most a third of the time.
func (s *saving) verify(alive bool, named []string) error {
	// The listing is taken before the files are read: a change in between shows as a difference at the next
	// look.
	listing := list(s.run.Dir)
	// While nothing changes there is no need to read a gigabyte again.
	// passed is compared with took, so that verifying takes a third of the time at most, however large the
	// checkpoints are.
	passed := time.Since(s.verified)
	due := passed > 2*s.took && !listing.equal(s.listing) || passed > max(again, 10*s.took)
	if s.verified.IsZero() || due || !alive {
		began := time.Now()
		s.found, s.err = s.newest(s.run.Dir, named)
		s.verified, s.took, s.listing = time.Now(), time.Since(began), listing
		// The files are compared as they were before and after reading: a checkpoint that was written over
		// meanwhile may be half old and half new.
		s.files = listing.pick(s.found.Files)
		if s.err == nil && !same(s.files, stat(s.run.Dir, s.found.Files)) {
			s.err = fmt.Errorf("%s changed while it was read", s.found.Name)
		}
	}
	// A checkpoint that was there before the request may lack the last steps.
	if s.err == nil && alive && !s.options.Acknowledge && same(s.before, s.files) {
		return fmt.Errorf("%s was there before", s.found.Name)
	}
	return s.err
}

// newest returns the newest complete checkpoint in a directory, of which the job has named these files, and follows no
// link out of it.
func (a *Runner) newest(dir string, named []string) (format.Found, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return format.Found{}, err
	}
	defer root.Close()
	return format.Of(a.options.Format, named).Newest(regular.FS(root))
}

// listing is what a directory holds, at any depth, by name.
// What could not be looked at has nil in infos.
type listing struct {
	names []string
	infos []os.FileInfo
}

// list returns what a directory holds; nothing of what cannot be read.
// Links are listed as what they are, and not followed. O(entries).
func list(dir string) listing {
	var l listing
	root := os.DirFS(dir)
	_ = fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != "." {
			l.names = append(l.names, name)
		}
		return nil
	})
	l.infos = stat(dir, l.names)
	return l
}

// equal reports whether nothing has changed between two listings, as far as one sees without reading.
func (l listing) equal(other listing) bool {
	return slices.Equal(l.names, other.names) && same(l.infos, other.infos)
}

func (l listing) files() []string {
	var files []string
	for i, info := range l.infos {
		if info != nil && info.Mode().IsRegular() {
			files = append(files, l.names[i])
		}
	}
	return files
}

// pick returns the files of these names; nil for one that is not in the listing.
func (l listing) pick(names []string) []os.FileInfo {
	// A name whose file is not there has nil in its place, so that it differs from every file.
	infos := make([]os.FileInfo, len(names))
	for i, name := range names {
		if at := slices.Index(l.names, name); at >= 0 {
			infos[i] = l.infos[at]
		}
	}
	return infos
}

// stat returns what the system says about files; nil for one that is not there.
// A link is looked at itself, and not what it names.
func stat(dir string, names []string) []os.FileInfo {
	infos := make([]os.FileInfo, len(names))
	for i, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// same reports whether these are the same files with the same contents, as far as one sees without
// reading: identity, length, and time of the last change, whichever way the clock went.
func same(a, b []os.FileInfo) bool {
	return slices.EqualFunc(a, b, func(x, y os.FileInfo) bool {
		if x == nil || y == nil {
			return x == nil && y == nil
		}
		return os.SameFile(x, y) && x.Name() == y.Name() && x.Size() == y.Size() && x.ModTime().Equal(y.ModTime())
	})
}
