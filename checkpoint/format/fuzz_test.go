// This file feeds the readers with anything: they end, without a panic, and hold no more memory than the
// files have bytes, whatever lengths those claim.

package format_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// fuzz seeds with a file of a fixture, whole and cut, and verifies the checkpoint with that file replaced.
func fuzz(f *testing.F, made *fixture, member string) {
	whole := made.files[member].bytes
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, contents []byte) {
		dir := made.with(member, contents)
		if contents == nil {
			return
		}
		verified, err := made.format.Verify(dir, made.new)
		found, newestErr := made.format.Newest(dir)
		if err == nil && (newestErr != nil || found.Name != verified.Name) {
			t.Errorf("Verify accepts what Newest passes over: %+v, %v", found, newestErr)
		}
		if err != nil && newestErr == nil && found.Name == made.new {
			t.Errorf("Newest chooses what Verify refuses: %v", err)
		}
	})
}

func FuzzIndex(f *testing.F)       { fuzz(f, saverFixture(), "model.ckpt-100.index") }
func FuzzShard(f *testing.F)       { fuzz(f, saverFixture(), "model.ckpt-100.data-00001-of-00002") }
func FuzzMeta(f *testing.F)        { fuzz(f, saverFixture(), "model.ckpt-100.meta") }
func FuzzArchive(f *testing.F)     { fuzz(f, torchFixture(), "model-3.pt") }
func FuzzArrays(f *testing.F)      { fuzz(f, mxnetFixture(), "net-10000.params") }
func FuzzSymbol(f *testing.F)      { fuzz(f, mxnetFixture(), "net-symbol.json") }
func FuzzPickle(f *testing.F)      { fuzz(f, mxnetFixture(), "net-10000.states") }
func FuzzCaffeModel(f *testing.F)  { fuzz(f, caffeFixture(), "lenet_iter_1000.caffemodel") }
func FuzzSolverState(f *testing.F) { fuzz(f, caffeFixture(), "lenet_iter_1000.solverstate") }

// FuzzEntry puts anything behind the checksum of an index block, where a plain mutation never gets.
func FuzzEntry(f *testing.F) {
	f.Add("w", []byte{8, 1, 18, 4, 18, 2, 8, 2, 40, 8, 53, 0, 0, 0, 0})
	f.Add("s", []byte{8, 7, 18, 13, 18, 11, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 40, 8})
	f.Fuzz(func(t *testing.T, key string, entry []byte) {
		index := &file{}
		handle := index.addBlock([][2]string{{"", "\x08\x01"}, {key, string(entry)}})
		properties := index.addBlock(nil)
		handles := index.addBlock([][2]string{{key, string(handle)}})
		footer := append(append(properties, handles...), make([]byte, 40)...)[:40]
		index.add(footer...)
		index.u64(0xdb4775248b80fb57)
		dir := fstest.MapFS{"m.index": {Data: index.bytes}, "m.data-00000-of-00001": {Data: make([]byte, 32)}}
		if found, err := (format.TensorFlow{}).Verify(dir, "m"); err == nil && len(found.Files) != 2 {
			t.Errorf("%+v", found)
		}
	})
}

// TestHugeClaims: files that claim to be huge, and are as long as they claim, cost no memory.
func TestHugeClaims(t *testing.T) {
	const size = 1 << 36 // bytes, nearly all of them a hole
	list := &file{}
	list.u64(0x112)
	list.u64(0)
	list.u64(1 << 60) // arrays
	list.u32(0xF993FAC9)
	list.u32(0)
	list.u32(1)
	list.u64(1 << 33) // elements of four bytes, which are there
	list.u64(1)
	list.u32(0)
	footer := &file{}
	footer.add(binary.AppendUvarint([]byte{0, 0, 0}, 1<<35)...)
	footer.add(make([]byte, 40-len(footer.bytes))...)
	footer.u64(0xdb4775248b80fb57)
	net := protowire.AppendVarint(protowire.AppendTag(nil, 100, protowire.BytesType), 1<<35)
	state := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), 1<<35)
	for name, test := range map[string]struct {
		format     format.Format
		begin, end []byte
	}{
		"m-0001.params":        {format.MXNet{}, list.bytes, nil},
		"m.index":              {format.TensorFlow{}, nil, footer.bytes},
		"m.pt":                 {format.PyTorch{}, []byte("PK\x03\x04"), []byte("PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00")},
		"m_iter_1.solverstate": {format.Caffe{}, state, nil},
		"m_iter_1.caffemodel":  {format.Caffe{}, net, nil},
	} {
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "m_iter_1.solverstate"), solverState(1, "m_iter_1.caffemodel", blob(true, 1)), 0o600))
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, test.begin, 0o600))
		if err := os.Truncate(path, size-int64(len(test.end))); err != nil {
			t.Skip(err) // not every file system has holes of this size
		}
		appendTo(t, path, test.end)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := test.format.Newest(os.DirFS(folder))
		runtime.ReadMemStats(&after)
		must.Err(t, err, format.ErrNone, name)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<26 {
			t.Errorf("%s: %d bytes of memory for %v", name, used, err)
		}
	}
}

func appendTo(t *testing.T, path string, bytes []byte) {
	t.Helper()
	f := must.Have(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Have(f.Write(bytes))(t)
	must.Do(t, f.Close())
}
