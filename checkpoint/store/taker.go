// This file declares Taker: files that become parts without a copy of their bytes.

package store

import "io/fs"

// Taker is a Writer that may have a file as a part without writing its bytes again, where both lie on one medium. Writers of
// filestore are such, and those of package shards on one. storetest.Run tests them.
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
