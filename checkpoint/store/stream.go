// This file implements the reading of a part, or of a range of it: chunks that are compared before a byte of them is handed out.

package store

import (
	"bytes"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"slices"
)

// stream is a part, or a range of it, that is being read, chunk by chunk: its sum is that of a whole chunk. A caller that reads
// exactly the bytes of a part, and never sees io.EOF, gets no damaged one either. Of a part that has a digest alone, which an
// earlier version has written, the last chunk is held back until all is compared.
type stream struct {
	r    *reader
	part Part
	from io.ReadCloser
	// chunk is the next to be read; skip is where in it the range begins.
	chunk, skip int64
	// left counts the bytes that were not handed out, ready are those of them that were compared.
	left  int64
	ready []byte
	// buffer holds a chunk that is longer than what the caller asks for.
	buffer []byte
	// digest has seen all bytes; nil: there is none to compare.
	digest hash.Hash
	// ended is what Read returns from now on: io.EOF, what went wrong, or that the part is closed.
	ended error
}

// open opens the object of the part. Contents that came with the manifest are compared again like all.
func (s *stream) open(index int) (_ io.ReadCloser, err error) {
	offset := s.chunk * ChunkBytes
	if at, inline := slices.BinarySearch(s.r.stored.Inline, index); inline {
		s.from = io.NopCloser(bytes.NewReader(s.r.stored.Contents[at][offset:]))
	} else if s.from, err = s.r.open(index, offset); err != nil {
		return nil, s.r.wrap(s.part.Name, err)
	}
	return s, nil
}

// Read implements io.Reader. It returns no more than is left of a chunk.
func (s *stream) Read(p []byte) (int, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	if err := s.r.ctx.Err(); err != nil {
		return 0, s.r.wrap(s.part.Name, err)
	}
	// Of a part without bytes the end is looked for.
	if len(s.ready) == 0 && (s.left > 0 && len(p) > 0 || s.part.Bytes == 0) {
		if err := s.next(p); err != nil {
			s.ended = s.r.wrap(s.part.Name, err)
			return 0, s.ended
		}
	}
	n := copy(p, s.ready)
	s.ready, s.left = s.ready[n:], s.left-int64(n)
	if s.left == 0 {
		s.ended = io.EOF
	}
	return n, s.ended
}

// next reads and compares a chunk, in p if that is long enough.
func (s *stream) next(p []byte) error {
	begin := s.chunk * ChunkBytes
	length := min(ChunkBytes, s.part.Bytes-begin)
	chunk := p
	if s.skip > 0 || int64(len(p)) < length {
		if s.buffer == nil {
			s.buffer = make([]byte, length)
		}
		chunk = s.buffer
	}
	chunk = chunk[:length]
	if n, err := fill(s.from, chunk); err == io.EOF {
		return fmt.Errorf("%d bytes instead of %d: %w", begin+int64(n), s.part.Bytes, ErrCorrupt)
	} else if err != nil {
		return err
	}
	if err := s.compare(begin, chunk); err != nil {
		return err
	}
	s.ready = chunk[s.skip:min(length, s.skip+s.left)]
	s.chunk, s.skip = s.chunk+1, 0
	return nil
}

// fill reads until p is full; io.EOF: the object ends before. An object that could not be read to its end, such as one over a
// connection that was cut, keeps its error, io.ErrUnexpectedEOF for instance, which io.ReadFull would not tell from the end.
func fill(from io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var read int
		read, err = from.Read(p[n:])
		n += read
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// compare returns an error unless a chunk has its sum and, if it is the last, nothing follows and the digest is right.
func (s *stream) compare(begin int64, chunk []byte) error {
	if s.part.CRC32C != "" && crc32.Checksum(chunk, castagnoli) != s.part.CRC32C.At(s.chunk) {
		return fmt.Errorf("the chunk from byte %d on has another sum: %w", begin, ErrCorrupt)
	}
	if s.digest != nil {
		s.digest.Write(chunk)
	}
	if begin+int64(len(chunk)) < s.part.Bytes {
		return nil
	}
	switch n, err := fill(s.from, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("more than %d bytes: %w", s.part.Bytes, ErrCorrupt)
	case err != io.EOF:
		return err
	case s.digest != nil && Digest(s.digest.Sum(nil)) != s.part.SHA256:
		return fmt.Errorf("has another digest: %w", ErrCorrupt)
	}
	return nil
}

// Close implements io.Closer. A part that was read to its end keeps saying io.EOF.
func (s *stream) Close() error {
	if s.ended == nil {
		s.ended = s.r.wrap(s.part.Name, errClosed)
	}
	return s.from.Close()
}
