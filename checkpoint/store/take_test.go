// This file tests what a medium is asked for when a file is taken, and what the writer says of it.

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apportion/apportion/internal/must"
)

// sharing is a fake that can have files as objects. Reading and closing them is logged, and fails, as all else.
type sharing struct {
	fake
	moves bool
	// reads is called before each read.
	reads func()
}

func (s *sharing) Share(index int, file fs.File, given bool) (Object, io.ReadCloser, bool, error) {
	if err := s.do(fmt.Sprint("share ", index)); err != nil {
		return nil, nil, false, err
	}
	if s.moves && !given {
		return nil, nil, false, errors.ErrUnsupported
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, false, err
	}
	s.objects = append(s.objects, bytes.NewBuffer(data))
	return &fakeObject{&s.fake, len(s.objects) - 1}, &content{s, bytes.NewReader(data)}, s.moves, nil
}

// content is the file of a sharing that is being read.
type content struct {
	s    *sharing
	from io.Reader
}

func (c *content) Read(p []byte) (int, error) {
	if c.s.reads != nil {
		c.s.reads()
	}
	if err := c.s.do("read"); err != nil {
		return 0, err
	}
	return c.from.Read(p)
}

func (c *content) Close() error { return c.s.do("end") }

func file(t *testing.T, text string) fs.File {
	t.Helper()
	return must.Have(fstest.MapFS{"file": {Data: []byte(text)}}.Open("file"))(t)
}

func taking(t *testing.T, ctx context.Context, s Draft, form Form) Taker {
	t.Helper()
	w := newWriter(ctx, "job", 1, form, s)
	part, err := w.Part("first")
	if err == nil {
		_, err = io.WriteString(part, "1st")
		err = errors.Join(err, part.Close())
	}
	must.Do(t, err)
	return w.(Taker)
}

// TestTakeSums: a part that was taken has the sums of one that was written, chunk by chunk and with a digest where one is
// asked for, also where it is long and was taken away.
func TestTakeSums(t *testing.T) {
	text := strings.Repeat("several chunks, the last of them short. ", ChunkBytes/20)
	for _, moves := range []bool{false, true} {
		for _, form := range []Form{{InlineBytes: 10}, apart} {
			written := taking(t, t.Context(), &fake{}, form)
			part, err := written.Part("file")
			if err == nil {
				_, err = io.WriteString(part, text)
				err = errors.Join(err, part.Close())
			}
			want, failed := written.Commit()
			must.Do(t, errors.Join(err, failed))
			s := &sharing{moves: moves}
			w := taking(t, t.Context(), s, form)
			moved := must.Have(w.Take("file", file(t, text), true))(t)
			must.Equal(t, moved, moves, "moved")
			got, err := w.Commit()
			if err != nil || !slices.Equal(got.Parts, want.Parts) {
				t.Errorf("%+v: the manifests differ, %v", form, err)
			}
		}
	}
}

// TestTakeCalls pins what a medium is asked for: what is read is closed, and then the object is closed or discarded, once.
func TestTakeCalls(t *testing.T) {
	for fail, want := range map[string]string{
		"":        "share 1, read, read, end, close, commit",
		"share 1": "share 1, abort",
		"read":    "share 1, read, end, discard, abort",
		"end":     "share 1, read, read, end, close, abort",
		"close":   "share 1, read, read, end, close, abort",
		"commit":  "share 1, read, read, end, close, commit, abort",
		"context": "share 1, read, end, discard, abort",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := &sharing{fake: fake{fail: fail}}
		if fail == "context" {
			s.reads = cancel
		}
		w := taking(t, ctx, s, Form{InlineBytes: 4})
		_, err := w.Take("file", file(t, "a file"), false)
		_, committed := w.Commit()
		if err == nil {
			err = committed
		}
		wrong := fail != "" && !errors.Is(err, errMedium) && !errors.Is(err, context.Canceled)
		if (err == nil) != (fail == "") || wrong || (committed == nil) != (fail == "") {
			t.Errorf("%q failing: %v, Commit: %v", fail, err, committed)
		}
		must.Do(t, w.Abort(), fail, "failing: Abort")
		must.Equal(t, strings.Join(s.log, ", "), want, fail, "failing")
		cancel()
	}
}

// TestTakeRefuses: what must be copied is told before the medium makes anything, and the name is free; what is wrong is told
// in the words of Part.
func TestTakeRefuses(t *testing.T) {
	closed := file(t, "a file")
	must.Do(t, closed.Close())
	for what, c := range map[string]struct {
		draft Draft
		file  fs.File
	}{
		"a medium that cannot": {&fake{}, file(t, "a file")},
		"a short file":         {&sharing{}, file(t, "four")},
		"not given":            {&sharing{moves: true}, file(t, "a file")},
		"a file that is gone":  {&sharing{}, unseen{closed}},
	} {
		w := taking(t, t.Context(), c.draft, Form{InlineBytes: 4})
		if moved, err := w.Take("file", c.file, false); moved || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %t, %v", what, moved, err)
		}
		part, err := w.Part("file")
		if err == nil {
			err = part.Close()
		}
		must.Do(t, err, what, "and then")
		if m, err := w.Commit(); err != nil || len(m.Parts) != 2 {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
		if _, err := w.Take("more", file(t, "a file"), true); err == nil || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s, behind the commit: %v", what, err)
		}
	}
	w := taking(t, t.Context(), &sharing{}, apart)
	for _, name := range []string{"first", "../file", ""} {
		must.Fail(w.Take(name, file(t, "a file"), true))(t, ErrName, "Take as", name)
	}
	must.Have(w.Part("open"))(t)
	must.Fail(w.Take("file", file(t, "a file"), true))(t, errOpen, "Take beside a part that is open")
}

// unseen is a file that cannot be looked at any more.
type unseen struct{ fs.File }

func (unseen) Stat() (fs.FileInfo, error) { return nil, fs.ErrClosed }
