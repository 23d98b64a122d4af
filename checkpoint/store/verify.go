// This file implements Verify: the chunks of a stored checkpoint are read and compared, several at the same time.

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// pieceBytes is how much of a part is verified in one go: many chunks, since each piece opens the part anew.
const pieceBytes = 64 * ChunkBytes

// maxReaders bounds how many pieces are read at the same time: more help no disk, and each holds a chunk.
const maxReaders = 8

// Verify reads every part of a stored checkpoint and returns its manifest. A part that is not what was
// committed is an error that wraps ErrCorrupt. O(bytes), in pieces that are read at the same time.
func Verify(ctx context.Context, s Store, job string, number int64) (Manifest, error) {
	return VerifyShare(ctx, s, job, number, Share{})
}

// VerifyShare is Verify of a share: all of them together read every byte once, and may do so on as many servers. Each opens
// the checkpoint. O(bytes of the share), and of the manifest.
func VerifyShare(ctx context.Context, s Store, job string, number int64, share Share) (Manifest, error) {
	share.Of = cmp.Or(share.Of, 1)
	if err := share.Check(job); err != nil {
		return Manifest{}, err
	}
	manifest, err := verify(ctx, s, job, number, share)
	if err != nil {
		return Manifest{}, fmt.Errorf("verify job %q, checkpoint %d: %w", job, number, err)
	}
	return manifest, nil
}

// verify is VerifyShare without the words around its errors.
func verify(ctx context.Context, s Store, job string, number int64, share Share) (Manifest, error) {
	reader, err := s.Open(ctx, job, number)
	if err != nil {
		return Manifest{}, err
	}
	defer reader.Close()
	manifest := reader.Manifest()
	// Pieces go round, so that no share is larger than another by more than one of them.
	var own []piece
	for i, p := range piecesOf(manifest) {
		if i%share.Of == share.Index {
			own = append(own, p)
		}
	}
	return manifest, inParallel(own, func(p piece) error { return p.verify(ctx, reader) })
}

// piece is a range of a part, or all of it.
type piece struct {
	part          Part
	offset, bytes int64
}

// piecesOf cuts the parts of a checkpoint into pieces. A part is read as a whole where it has a digest, which is that
// of all bytes, or no sums of chunks, and where it is short.
func piecesOf(manifest Manifest) []piece {
	var pieces []piece
	for _, part := range manifest.Parts {
		if part.CRC32C == "" || part.SHA256 != (Digest{}) {
			pieces = append(pieces, piece{part, 0, part.Bytes})
			continue
		}
		for offset := int64(0); offset < part.Bytes; offset += pieceBytes {
			pieces = append(pieces, piece{part, offset, min(pieceBytes, part.Bytes-offset)})
		}
	}
	return pieces
}

func (p piece) verify(ctx context.Context, reader Reader) error {
	open := func() (io.ReadCloser, error) { return reader.Range(p.part.Name, p.offset, p.bytes) }
	if p.bytes == p.part.Bytes {
		open = func() (io.ReadCloser, error) { return reader.Part(p.part.Name) }
	}
	from, err := open()
	if err == nil {
		err = errors.Join(copyTo(ctx, io.Discard, from), from.Close())
	}
	if err != nil {
		return fmt.Errorf("part %q: %w", p.part.Name, err)
	}
	return nil
}

// inParallel does something with each piece, several at the same time, and returns the error of the first that has
// one. Behind it none is begun any more.
func inParallel(pieces []piece, do func(piece) error) error {
	faults := make([]error, len(pieces))
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for !failed.Load() {
			i := next.Add(1) - 1
			if i >= int64(len(pieces)) {
				return
			}
			if faults[i] = do(pieces[i]); faults[i] != nil {
				failed.Store(true)
			}
		}
	}
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxReaders, len(pieces)) - 1 {
		readers.Go(work)
	}
	work()
	readers.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
