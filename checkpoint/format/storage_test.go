// This file tests what is read of the table of torch.distributed.checkpoint.

package format

import (
	"archive/zip"
	"io"
	"testing"
	"testing/fstest"

	"github.com/apportion/apportion/internal/must"
)

// The entries of a table fill the file that they are in, one behind the other.
func TestStorage(t *testing.T) {
	packed := must.Have(zip.OpenReader("testdata/library/dcp.zip"))(t)
	defer packed.Close()
	dir := fstest.MapFS{}
	for _, name := range []string{".metadata", "__0_0.distcp"} {
		file := must.Have(packed.Open("step-20/" + name))(t)
		data := must.Have(io.ReadAll(file))(t)
		dir[name] = &fstest.MapFile{Data: data}
	}
	list := must.Have(storage(dir, ".metadata"))(t)
	must.Equal(t, len(list), 3, list)
	at := int64(0)
	for _, s := range list {
		if s.file != "__0_0.distcp" || s.offset != at || s.length <= 0 {
			t.Fatalf("%v: an entry at %d, want %d", list, s.offset, at)
		}
		at += s.length
	}
	must.Equal(t, at, int64(len(dir["__0_0.distcp"].Data)), "bytes of", "are listed")
}
