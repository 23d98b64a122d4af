// This file is a rank of the job, and what counts the bytes that are read.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// The model has so many layers of so many bytes. Rank r of n holds those that leave r when they are divided by n.
// Zeros do, since the store compares sums and packs nothing.
const layers, layerBytes = 12, 2 << 20

// wholeVariable tells a rank that rank 0 saves the model for all.
const wholeVariable = "WHOLE"

// rank saves its layers whenever it is asked to, and trains nothing. It ends when it is stopped.
// It is what a training loop has to do to be saved: look for a request between two steps, write files, and name
// them in an answer.
func rank() {
	// The runner tells it by the environment what it is.
	me, of := number(command.EnvRank), number(command.EnvContainers)
	whole := os.Getenv(wholeVariable) != ""
	// It has nothing to load: what it would train is zeros, and the runner has fetched the files already when it starts.
	for answered := int64(0); ; time.Sleep(2 * time.Millisecond) {
		// The runner counts its requests. Before the first there is no file.
		text, err := os.ReadFile(os.Getenv(command.EnvSaveRequest))
		asked, failed := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// Where rank 0 saves for all, the others have sent it theirs.
		if err != nil || failed != nil || asked == answered || whole && me > 0 {
			continue
		}
		var files []string
		for layer := range int64(layers) {
			// Each layer is a file, and the ranks' files are called differently: a checkpoint has one part of a name.
			if !whole && layer%of != me {
				continue
			}
			// The files are whole before the answer names them; until then the runner takes none.
			files = append(files, fmt.Sprintf("layer-%d", layer))
			must(os.WriteFile(filepath.Join(os.Getenv(command.EnvCheckpointDir), files[len(files)-1]), make([]byte, layerBytes), 0o600))
		}
		answer, err := json.Marshal(command.Acknowledgement{Request: asked, Files: files})
		must(err)
		// An answer that is read before all of it is there is no JSON, and is read again.
		must(os.WriteFile(os.Getenv(command.EnvSaveAck), answer, 0o600))
		answered = asked
	}
}

// number reads a variable of a rank, which the runner has set: one that is no number is a fault of this program.
func number(variable string) int64 {
	value, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	must(err)
	return value
}

// must ends a rank, or the program, that cannot go on.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "shards:", err)
		os.Exit(1)
	}
}

// disk is a folder below another one, which it makes. Nobody closes it: the program ends soon, and with it what is open.
// It stands for the disk of a server, or for the file system that all of them share.
func disk(dir, name string) vfs.FS {
	name = filepath.Join(dir, name)
	must(os.MkdirAll(name, 0o700))
	fsys, err := vfs.NewOS(name)
	must(err)
	return fsys
}

// meter is a disk that counts what is read from it.
type meter struct {
	vfs.FS
	// read is that of the one who has opened the store by this disk.
	read *atomic.Int64
}

// Open implements vfs.FS. Whatever is read counts, manifests and lists of shares as well.
func (m meter) Open(name string) (io.ReadSeekCloser, error) {
	f, err := m.FS.Open(name)
	return metered{f, m.read}, err
}

// metered is a file of a meter. It hides that the file is one of the disk, which nothing here asks for.
type metered struct {
	io.ReadSeekCloser
	read *atomic.Int64
}

// Read implements io.Reader. Servers read at the same time, so the count is atomic.
func (m metered) Read(p []byte) (int, error) {
	n, err := m.ReadSeekCloser.Read(p)
	m.read.Add(int64(n))
	return n, err
}
