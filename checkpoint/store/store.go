// This file declares where checkpoints are kept: the contract between the protocol and a store.

package store

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
)

// Store keeps the checkpoints of jobs. It is the only thing that must outlive every process and server,
// so its contract is about durability:
//
//   - When Commit has returned nil, the checkpoint survives a crash of the process and, where the medium
//     can promise that, of the machine. Before, it is not visible: neither List nor Open know it.
//   - A committed checkpoint never changes. A second Commit of the same number with the same parts
//     returns the manifest of the first; with other parts it returns ErrExists and changes nothing. So a
//     late process of an earlier attempt cannot overwrite what a later attempt relies on.
//   - What Open hands out is verified: reading a part that is damaged, or a range of one, ends in ErrCorrupt, not in
//     EOF.
//   - What an interrupted writer leaves behind is never visible and is collected later.
//
// A store is safe for concurrent use. Each method returns promptly with the context's error when the
// context ends. Every error wraps the job and number that it is about.
type Store interface {
	// Begin opens checkpoint number of job for writing. Numbers are positive; the caller chooses them,
	// ascending, one for each attempt to save.
	Begin(ctx context.Context, job string, number int64) (Writer, error)
	// Open opens a committed checkpoint; ErrNotFound if there is none.
	Open(ctx context.Context, job string, number int64) (Reader, error)
	// List returns the manifests of the committed checkpoints of a job, ascending by number; none is
	// not an error. A checkpoint whose manifest is damaged is left out and named in the error, which
	// wraps ErrCorrupt; the others are returned beside it.
	List(ctx context.Context, job string) ([]Manifest, error)
	// Delete removes a checkpoint; one that is not there is not an error.
	Delete(ctx context.Context, job string, number int64) error
	// Fence ends what is being written of a job below a number, in whatever process: when it has returned nil, no
	// checkpoint of a lower number becomes visible that was not. Its Begin or its Commit returns an error that wraps
	// ErrFenced. What was committed stays, and is read and deleted as before. A fence only rises; a lower one than
	// before changes nothing. It outlives the process, and the checkpoints of the job. So a process of an attempt that
	// is over cannot add to what a later attempt relies on.
	Fence(ctx context.Context, job string, number int64) error
	// Identity returns the identity of the medium, as it is there now. The first call makes it; it is the same
	// for all stores on one medium, also after a restart, and different for different media. A medium that had
	// another identity a moment ago, or has lost it, is an error that wraps ErrIdentity.
	Identity(ctx context.Context) (Identity, error)
}

// Writer writes one checkpoint, a part after the other. Nothing of it is visible before Commit.
type Writer interface {
	// Part opens the next part; the one before must be closed. Names are unique in a checkpoint and
	// pass [CheckPart]. Contents stream through: a part may be larger than memory.
	Part(name string) (io.WriteCloser, error)
	// Commit makes the checkpoint visible and durable. After an error nothing is visible, or, if the
	// medium failed between, exactly the whole checkpoint.
	Commit() (Manifest, error)
	// Abort drops what was written. After Commit it does nothing, so it can be deferred.
	Abort() error
}

// Reader reads one committed checkpoint. Its methods may be called at the same time, but for Close.
type Reader interface {
	// Manifest says what the checkpoint consists of.
	Manifest() Manifest
	// Part opens a part for one pass from its beginning; ErrNotFound for a name that the manifest does
	// not have. The read that reaches the end compares length and digest, ErrCorrupt if they differ.
	Part(name string) (io.ReadCloser, error)
	// Range opens the bytes of a part from an offset on, so many of them. Both lie within the part; the error wraps
	// apportion.ErrRange otherwise. No byte is handed out before the chunk in which it lies was compared. A part
	// without Sums, which an earlier version has written, cannot be read so: the error wraps errors.ErrUnsupported.
	Range(name string, offset, bytes int64) (io.ReadCloser, error)
	// Close releases the checkpoint, not the parts that are open.
	Close() error
}

// Manifest says what a checkpoint consists of.
type Manifest struct {
	Job    string `json:"job"`
	Number int64  `json:"number"`
	// Parts in the order in which they were written.
	Parts []Part `json:"parts"`
}

// Part is one file of a checkpoint.
type Part struct {
	// Name is a relative path with forward slashes.
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// CRC32C has the checksums of the chunks. It is empty in a part without bytes, and in one of a checkpoint that
	// was written before there were any: that has a digest.
	CRC32C Sums `json:"crc32c,omitempty"`
	// SHA256 is the digest of all bytes, where the store was asked for it; otherwise zero.
	SHA256 Digest `json:"sha256,omitzero"`
}

// Digest is a SHA-256 sum; its text form is hexadecimal.
type Digest [sha256.Size]byte

// SameParts reports whether two lists of parts have one content, as far as their sums tell: equal names and
// lengths in equal order, and each pair with equal sums, at least one sort of them in common where there are
// bytes. O(bytes of the sums).
func SameParts(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(x, y Part) bool {
		chunks, digests := x.CRC32C != "" && y.CRC32C != "", x.SHA256 != Digest{} && y.SHA256 != Digest{}
		return x.Name == y.Name && x.Bytes == y.Bytes && (chunks || digests || x.Bytes == 0) &&
			(!chunks || x.CRC32C == y.CRC32C) && (!digests || x.SHA256 == y.SHA256)
	})
}

// Expect returns an error that wraps ErrIdentity unless the medium of s is, right now, the expected one. An empty
// expectation takes every store, and asks nothing.
func Expect(ctx context.Context, s Store, want Identity) error {
	if want == "" {
		return nil
	}
	found, err := s.Identity(ctx)
	if err != nil {
		return err
	}
	return want.Same(found)
}
