// This file implements ranges of parts: chunks that are compared before a byte of them is handed out.

package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apportion/apportion"
)

// Range implements Reader. It holds one chunk in memory.
// What it costs beyond the bytes of the range is the rest of the first and of the last chunk, since a sum is
// that of a whole chunk. Many goroutines may each read a range of one reader.
func (r *reader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	ranged, err := r.ranged(name, offset, bytes)
	if err != nil {
		return nil, r.wrap(name, err)
	}
	return ranged, nil
}

// ranged is Range without the words around its errors.
// Nothing is read here: damage shows in the first Read that needs its chunk.
func (r *reader) ranged(name string, offset, bytes int64) (*ranged, error) {
	// An unknown name is told before a range that would not fit it.
	i, err := r.find(name)
	if err != nil {
		return nil, err
	}
	part := r.stored.Parts[i]
	switch {
	// It is subtracted, since a sum of the two may be too large for an int64.
	case offset < 0 || bytes < 0 || offset > part.Bytes-bytes:
		return nil, &apportion.FieldError{Field: "offset", Err: apportion.ErrRange, Detail: fmt.Sprintf("%d bytes from %d on, of %d", bytes, offset, part.Bytes)}
	// Digests are of all bytes: of a part that has nothing else a range cannot be verified.
	case part.CRC32C == "" && part.Bytes > 0:
		return nil, fmt.Errorf("a range of a part without sums of chunks: %w", errors.ErrUnsupported)
	}
	// Reading begins where the chunk does, for its sum is that of all of it.
	chunk := offset / ChunkBytes
	from, part, err := r.part(name, chunk*ChunkBytes)
	if err != nil {
		return nil, err
	}
	return &ranged{r: r, part: part, from: from, chunk: chunk, skip: offset % ChunkBytes, left: bytes}, nil
}

// ranged is a range that is being read.
// It is used by one goroutine at a time. Chunks are read in their order and never again.
type ranged struct {
	r    *reader
	part Part
	from io.ReadCloser
	// chunk is the next to be read; skip is where in it the range begins.
	chunk, skip int64
	// left counts the bytes of the range that were not handed out, ready are those of them that were compared.
	left  int64
	ready []byte
	// ended is what Read returns from now on, after damage, a fault of the medium or Close. The end of the
	// range and that of the context are not kept here: the one is known by left, the other by the context.
	// buffer is where a chunk is read into.
	buffer []byte
	ended  error
}

// Read implements io.Reader.
// It returns no more than is left of one chunk. Bytes that were compared are handed out even if the next chunk
// turns out to be damaged.
func (g *ranged) Read(p []byte) (int, error) {
	if g.ended != nil {
		return 0, g.ended
	}
	if err := g.r.ctx.Err(); err != nil {
		return 0, g.r.wrap(g.part.Name, err)
	}
	// It comes before the next chunk is looked at: an empty range reads nothing at all.
	if g.left == 0 {
		return 0, io.EOF
	}
	// A Read of no bytes must not fetch a chunk, and has no answer but nothing.
	if len(g.ready) == 0 && len(p) > 0 {
		if err := g.next(); err != nil {
			g.ended = g.r.wrap(g.part.Name, err)
			return 0, g.ended
		}
	}
	// What was compared is handed out, piece by piece, before the next chunk is read.
	n := copy(p, g.ready)
	g.ready, g.left = g.ready[n:], g.left-int64(n)
	return n, nil
}

// next reads and compares a chunk.
// A chunk is ChunkBytes long, but for the last. Nothing of it is in ready before its sum was compared.
func (g *ranged) next() error {
	// The buffer is made for the first chunk: of a short part it is as long as that, and the next ones are no longer.
	begin := g.chunk * ChunkBytes
	if g.buffer == nil {
		g.buffer = make([]byte, min(ChunkBytes, g.part.Bytes-begin))
	}
	chunk := g.buffer[:min(int64(len(g.buffer)), g.part.Bytes-begin)]
	// A part that ends early is damaged; another error says that the medium could not be read, and is kept as
	// it is.
	if n, err := io.ReadFull(g.from, chunk); err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%d bytes instead of %d: %w", begin+int64(n), g.part.Bytes, ErrCorrupt)
	} else if err != nil {
		return err
	}
	if crc32.Checksum(chunk, castagnoli) != g.part.CRC32C.At(g.chunk) {
		return fmt.Errorf("the chunk from byte %d on has another sum: %w", begin, ErrCorrupt)
	}
	// The last chunk is followed by nothing.
	// An object that was extended has the right sums as far as they go, so its end is looked at, too.
	if begin+int64(len(chunk)) == g.part.Bytes {
		if err := atEnd(g.from, g.part.Bytes); err != nil {
			return err
		}
	}
	g.ready = chunk[g.skip:min(int64(len(chunk)), g.skip+g.left)]
	g.chunk, g.skip = g.chunk+1, 0
	return nil
}

// Close implements io.Closer. A range that was read to its end keeps no error: it has none to keep.
// Its error is that of the object's Close alone.
func (g *ranged) Close() error {
	if g.ended == nil {
		g.ended = g.r.wrap(g.part.Name, errClosed)
	}
	return g.from.Close()
}
