// This file declares Taker: files that become parts without a copy of their bytes, and implements it on whatever can have a file as an object.

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Taker is a Writer that may have a file as a part without writing its bytes again, where both lie on one medium. Writers of
// package files are such, and those of a [Shards] on one. storetest.Run tests them.
type Taker interface {
	Writer
	// Take makes the next part of a file, all of it, and reads it once, for its sums. The file is open for reading, and at
	// its beginning or not. An error that wraps errors.ErrUnsupported says that it must be copied, by Part: that the medium
	// cannot, or that the file is short; nothing has happened then, and the name is free. After any other
	// error the writer has failed.
	//
	// Where the medium can share bytes until either file is written, it does, and moved is false: the two have nothing to
	// do with each other any more. Where it cannot, and given says that the owner of the file has given it away, the file
	// itself becomes the part, and moved is true. It is refused where somebody could still write to it: it
	// must have one name and be open for writing nowhere. Until the file is closed nobody can open it so unnoticed. The
	// caller takes its name away behind Commit, and closes it then; after Abort it is what it was.
	Take(name string, file fs.File, given bool) (moved bool, err error)
}

// takeBytes is how much of a file is read in one go for its sums: what a processor keeps near.
const takeBytes = 256 << 10

func (w *writer) Take(name string, file fs.File, given bool) (bool, error) {
	if err := w.ready(); err != nil {
		return false, w.wrap(err)
	}
	// A name that is refused leaves the writer as it was, and the file with its owner.
	if err := checkNew(name, w.taken); err != nil {
		return false, w.wrap(err)
	}
	moved, err := w.take(name, file, given)
	if err != nil {
		return false, w.wrap(fmt.Errorf("part %.60q: %w", name, err))
	}
	return moved, nil
}

// take is Take behind the checks. Its order is that of Part and Close: an error that says "copy it" comes before anything is
// made, and a part is listed when it is durable, not before.
// Its result moved is true only if the file itself has become the part.
func (w *writer) take(name string, file fs.File, given bool) (moved bool, err error) {
	sharer, ok := w.draft.(Sharer)
	if !ok {
		return false, errors.ErrUnsupported
	}
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if info.Size() <= int64(w.form.inline(w.kept)) {
		return false, fmt.Errorf("%d bytes are kept with the manifest: %w", info.Size(), errors.ErrUnsupported)
	}
	object, content, moved, err := sharer.Share(len(w.stored.Parts), file, given)
	// The medium has made nothing, so that the writer goes on.
	if errors.Is(err, errors.ErrUnsupported) {
		return false, err
	}
	var part Part
	if err == nil {
		part, err = w.sum(name, object, content)
	}
	if err != nil {
		w.ended = err
		return false, err
	}
	w.taken[name] = true
	w.stored.Parts = append(w.stored.Parts, part)
	return moved, nil
}

// sum reads an object for its sums, and completes it. The order matters: Close says that nobody has touched what was read.
func (w *writer) sum(name string, object Object, content io.ReadCloser) (Part, error) {
	summer := newSummer(w.form.SHA256)
	buffer := make([]byte, takeBytes)
	for {
		// A file may have a hundred gigabytes. Whoever has given the save up does not wait for the end of it.
		if err := w.ctx.Err(); err != nil {
			return Part{}, errors.Join(err, content.Close(), object.Discard())
		}
		n, err := content.Read(buffer)
		summer.add(buffer[:n])
		if summer.digest != nil {
			summer.digest.Write(buffer[:n])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Part{}, errors.Join(err, content.Close(), object.Discard())
		}
	}
	return summer.part(name), errors.Join(content.Close(), object.Close())
}
