// This file implements the state of "apportion oasis": saved after every answer, and resumed.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/primaldual"
)

// errDamaged reports a file that is no state, or a damaged one.
var errDamaged = errors.New("is no state, or a damaged one")

// Both are written into the file, so that another file, or one of a later version, is refused with a
// reason.
const (
	// stateFormat says what the file is, to a person who opens it as well.
	stateFormat = "apportion oasis state"
	// stateVersion goes up when the same fields mean something else.
	stateVersion = 1
)

// stateFile is what the file holds, as indented JSON.
type stateFile struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Header is the SHA-256 of the first line of the stream.
	Header string `json:"header"`
	// Lines is how many lines behind the first were answered, Jobs how many of them are jobs, and
	// Stream the SHA-256 of these lines, each hashed behind the hash of those before.
	Lines  int    `json:"lines"`
	Jobs   int    `json:"jobs"`
	Stream string `json:"stream"`
	// Refused has the numbers of those of them that were at fault, ascending, the first being 1.
	Refused []int `json:"refused,omitempty"`
	// Tally is what jobs have earned.
	Tally oasisTally `json:"tally"`
	// Scheduler is opaque here, as base64 in JSON: its form belongs to package primaldual.
	Scheduler []byte `json:"scheduler"`
	// Checksum is the SHA-256 of all this with an empty checksum.
	Checksum string `json:"checksum"`
}

// oasisState keeps the file of a run; without a path it does nothing.
type oasisState struct {
	// path is that of -state; empty: nothing is read or written.
	path string
	// saved is what the file holds; it is written over as the run goes on.
	saved stateFile
	// lines and stream are those of the run so far, and skipped whether the lines of the file are
	// behind it.
	// lines counts those behind the first that this run has seen, answered or skipped.
	lines int
	// stream is the chain of their digests.
	stream  [sha256.Size]byte
	resumed int // lines of the file when the run began
}

// The chain of hashes begins with that of the first line, so that the same jobs under another header
// are another stream.
// newOASiSState returns the state of a run that has answered nothing; header is the first line as it
// stands in the stream.
func newOASiSState(path string, header []byte) *oasisState {
	sum := sha256.Sum256(header)
	return &oasisState{path: path, stream: sum,
		saved: stateFile{Format: stateFormat, Version: stateVersion, Header: hex.EncodeToString(sum[:])}}
}

// fault returns an error that says what is wrong with the file.
func (s *oasisState) fault(field string, sort error, detail string) error {
	return &apportion.FieldError{Item: apportion.Item{ID: "state " + strconv.Quote(s.path)}, Field: field, Err: sort, Detail: detail}
}

// resume gives the run a scheduler: that of the file if there is one, or a new one.
func (s *oasisState) resume(o *oasis) (err error) {
	options := &primaldual.SchedulerOptions{Method: o.method}
	data, err := s.read()
	if err != nil {
		return err
	}
	if data == nil {
		if o.scheduler, err = primaldual.NewScheduler(&o.cluster, o.bounds, options); err != nil {
			return atLine(o.line, err)
		}
		return nil
	}
	// decode replaces s.saved, so the header of this stream is put aside first.
	header := s.saved.Header
	if err := s.decode(data); err != nil {
		return err
	}
	// Under another cluster or other options the answers so far would not be those of this run.
	if s.saved.Header != header {
		return s.fault("header", apportion.ErrConflict, "the first line of the stream is another")
	}
	// The library checks the snapshot against cluster and bounds by itself.
	o.scheduler, err = primaldual.RestoreScheduler(&o.cluster, o.bounds, options, s.saved.Scheduler)
	var fault *apportion.FieldError
	switch {
	// The header is the same, so only bounds that were computed from the jobs can differ.
	case errors.Is(err, apportion.ErrConflict):
		return s.fault("bounds", apportion.ErrConflict, "they come from all jobs of the stream, which are others now")
	case errors.As(err, &fault):
		return s.fault("scheduler."+fault.Field, fault.Err, fault.Detail)
	}
	// From here on the run counts as having answered these lines; skip passes over them.
	o.tally, s.resumed = s.saved.Tally, s.saved.Lines
	return err
}

// read returns the bytes of the file, or nil where there is none.
//
// No file is no error: the first run begins without one. A link is not followed, and a pipe is not waited for: who can
// write into the folder could otherwise have another file read, and put a new one beside it.
func (s *oasisState) read() ([]byte, error) {
	if s.path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(s.path, os.O_RDONLY|plain, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// What was opened is what is looked at: nobody can swap it in between.
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: not a regular file", s.path))
	}
	return io.ReadAll(file)
}

// lock keeps the file for this run until release is called: of two runs that answer one stream each would put its own
// answers in the place of the other's.
func (s *oasisState) lock() (release func(), err error) {
	if s.path == "" {
		return func() {}, nil
	}
	release, free, err := lockFile(s.path + ".lock")
	if err == nil && !free {
		err = s.fault("lock", apportion.ErrConflict, "another run holds it")
	}
	return release, err
}

// decode reads what encode has written, and nothing else: not one byte may differ.
//
// A checksum alone would let pass what JSON ignores, as unknown fields and other spaces: so the file
// is written again and compared byte by byte.
func (s *oasisState) decode(data []byte) error {
	var file stateFile
	// A lenient reader suffices: what it lets pass, the comparison with what encode writes does not.
	if err := json.Unmarshal(data, &file); err != nil {
		return s.fault("", errDamaged, err.Error())
	}
	switch {
	case file.Format != stateFormat:
		return s.fault("format", errDamaged, strconv.Quote(file.Format))
	// A file of another version is right in itself, so it is unknown and not damaged.
	case file.Version != stateVersion:
		return s.fault("version", apportion.ErrUnknown, strconv.Itoa(file.Version))
	}
	sum := file.Checksum
	// encode sets file.Checksum anew, so the one that was read is put aside first.
	again, err := file.encode()
	switch {
	case err != nil:
		return err
	case file.Checksum != sum:
		return s.fault("checksum", errDamaged, "")
	case !bytes.Equal(again, data):
		return s.fault("", errDamaged, "it is not as it was written")
	}
	// Nothing of s has changed until here: a damaged file leaves no traces.
	s.saved = file
	return nil
}

// encode sets the checksum and returns the bytes of the file.
func (f *stateFile) encode() ([]byte, error) {
	f.Checksum = ""
	// The fields are in the order of the struct, so that the same state has the same bytes everywhere.
	plain, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	f.Checksum = hex.EncodeToString(sum[:])
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

// skip goes on by one event and reports whether the file has the answer to it, and whether it was refused then. Behind the last
// such event it compares the lines with those that were answered.
func (s *oasisState) skip(e *oasisEvent) (done, refused bool, err error) {
	s.lines++
	s.stream = sha256.Sum256(append(s.stream[:], e.digest[:]...))
	// Only here is the hash of all answered lines complete. A stream that differs earlier is found
	// here, before any new answer is given.
	if s.lines == s.resumed && hex.EncodeToString(s.stream[:]) != s.saved.Stream {
		return false, false, s.fault("stream", apportion.ErrConflict,
			fmt.Sprintf("the lines up to line %d, where the state was saved, are not those that were answered", e.line))
	}
	done = s.lines <= s.resumed
	if done {
		_, refused = slices.BinarySearch(s.saved.Refused, s.lines)
	}
	return done, refused, nil
}

// refuse notes that the present line is at fault.
func (s *oasisState) refuse() { s.saved.Refused = append(s.saved.Refused, s.lines) }

// done reports a stream that ends before the lines that the file has answers to.
func (s *oasisState) done() error {
	if s.lines < s.resumed {
		return s.fault("lines", apportion.ErrConflict,
			fmt.Sprintf("%d lines were answered, the stream has only %d behind its first", s.resumed, s.lines))
	}
	return nil
}

// save writes the file anew. The file is always that of some answer, whatever happens: a crash
// between the answer and its file repeats the answer.
func (s *oasisState) save(o *oasis, e *oasisEvent) error {
	if s.path == "" {
		return nil
	}
	// All that a later run cannot compute from the stream alone is in the snapshot and the tally.
	snapshot, err := o.scheduler.Snapshot()
	if err != nil {
		return err
	}
	s.saved.Lines, s.saved.Jobs, s.saved.Stream = s.lines, len(o.jobs), hex.EncodeToString(s.stream[:])
	s.saved.Tally, s.saved.Scheduler = o.tally, snapshot
	data, err := s.saved.encode()
	if err != nil {
		return err
	}
	// Written beside the old one, synced and renamed: there is a whole file at any moment.
	return vfs.WriteFile(s.path, data)
}
