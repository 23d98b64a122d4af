// This file adds stores that take files wrongly, for TestFlaws.

package storetest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/apportion/apportion/checkpoint/store"
)

// takes is a writer that takes files by copying them, in a way that a flaw replaces.
type takes struct {
	store.Writer
	take func(w *takes, name string, file fs.File, given bool) (bool, error)
}

func (w *takes) Take(name string, file fs.File, given bool) (bool, error) {
	return w.take(w, name, file, given)
}

// copies writes so many bytes of a file, from where it is, as a part.
func (w *takes) copies(name string, file fs.File, bytes int64) error {
	part, err := w.Part(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(part, io.LimitReader(file, bytes))
	return errors.Join(err, part.Close())
}

// whole takes a file as it should be taken.
func (w *takes) whole(name string, file fs.File) error {
	if _, err := file.(*os.File).Seek(0, io.SeekStart); err != nil {
		return err
	}
	return w.copies(name, file, 1<<40)
}

// takesSo replaces how the store takes files.
func (f *flawed) takesSo(take func(w *takes, name string, file fs.File, given bool) (bool, error)) {
	f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
		w, err := f.mem.Begin(ctx, job, number)
		return &takes{w, take}, err
	}
}

// takeFlaws break what store.Taker says.
var takeFlaws = []flaw{
	{"takes a file from where it is", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) {
			return false, w.copies(name, file, 1<<40)
		})
	}},
	{"takes a file without its end", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) {
			_, err := file.(*os.File).Seek(0, io.SeekStart)
			return false, errors.Join(err, w.copies(name, file, 3<<20))
		})
	}},
	{"takes what was not given", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) { return true, w.whole(name, file) })
	}},
	{"has a part of a file that must be copied", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) {
			return false, errors.Join(errors.ErrUnsupported, w.whole(name, file))
		})
	}},
	{"moves a file that must be copied", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, _ fs.File, given bool) (bool, error) {
			return true, errors.Join(errors.ErrUnsupported, store.CheckPart(name))
		})
	}},
	{"takes a file under a name that leads elsewhere", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) {
			if store.CheckPart(name) != nil {
				return false, nil
			}
			return false, w.whole(name, file)
		})
	}},
	{"empties what it takes", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, given bool) (bool, error) {
			err := w.whole(name, file)
			if err == nil && given {
				err = os.Truncate(file.(*os.File).Name(), 0)
			}
			return false, err
		})
	}},
	{"takes files after the writer was given up", []string{"TakenFiles"}, func(f *flawed) {
		f.takesSo(func(w *takes, name string, file fs.File, _ bool) (bool, error) {
			err := w.whole(name, file)
			if err != nil && name == "more" {
				err = nil
			}
			return false, err
		})
	}},
}
