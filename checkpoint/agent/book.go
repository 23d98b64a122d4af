// This file implements the book: the fences of all jobs of one server, on a disk.

package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// BookFile is the name of the file in which a [Book] is kept.
const BookFile = "book.json"

// Book is what a server must remember when its agent is killed: the fence of every job, and what its
// newest attempt runs. It is safe for concurrent use. Calls that change it at the same time share one
// write to the disk.
type Book struct {
	fsys   vfs.FS
	server string

	// mu guards what is known now and the versions of it: the newest, and the newest that is durable.
	// It is never held while the disk is waited for.
	//
	// Two numbers are enough to know whether a change is on the disk: each change raises version, and
	// a write that has ended raises durable to the version that it has written. durable <= version
	// always.
	mu               sync.Mutex
	known            entries
	version, durable int64
	// writer is held while the file is written.
	writer sync.Mutex
}

// entries is the content of the file.
type entries struct {
	// Epoch is that of every Fence.
	Epoch int64 `json:"epoch"`
	// Witness is that of every Fence.
	Witness checkpoint.Witness `json:"witness,omitzero"`
	// Name is drawn at random, and drawn again after each boot of the machine, which Boot names.
	Name string `json:"name,omitempty"`
	Boot string `json:"boot,omitempty"`
	// Floor is the highest attempt of all pages that were dropped, see [Book.drop].
	Floor int64           `json:"floor,omitempty"`
	Jobs  map[string]Page `json:"jobs"`
}

// Page is what a server knows of one job.
type Page struct {
	Marks
	// Containers is how many containers the job has on this server.
	Containers int `json:"containers,omitempty"`
	// Run is the newest attempt that was to be started here; nil: none was.
	Run *runner.Run `json:"run,omitempty"`
	// Spec says what Run runs, in the words of whoever submitted the job.
	Spec json.RawMessage `json:"spec,omitempty"`
}

// MayRun reports whether processes of the page's Run may be alive.
func (p *Page) MayRun() bool { return p.Run != nil && p.Run.Attempt > max(p.Stopped, p.Lapsed) }

// OpenBook reads the book of a server from the root of a file system, or begins one where there is none.
// A file that cannot be read as a whole is an error: a server that has lost its memory needs a new file
// system, and does nothing that was asked of it before.
func OpenBook(fsys vfs.FS, server string) (*Book, error) {
	b := &Book{fsys: fsys, server: server, known: entries{Jobs: map[string]Page{}}}
	file, err := fsys.Open(BookFile)
	// A server without a book has never admitted anything: the zero Fence refuses nothing but effects
	// that need a Create.
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	// A field that is not known comes from a later version, whose promise this one would break.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b.known); err != nil {
		return nil, fmt.Errorf("agent: %s: %w", BookFile, err)
	}
	// What follows the first value would be lost at the next write.
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) || b.known.Jobs == nil {
		return nil, fmt.Errorf("agent: %s: it is not one book", BookFile)
	}
	return b, nil
}

// Admit decides about an effect, see [Fence.Admit]. When it returns without an error, what it has noted is
// durable, and the effect may be carried out if the ruling says so.
func (b *Book) Admit(e checkpoint.Effect) (Verdict, error) {
	verdict := b.note(e)
	return verdict, b.Flush()
}

// note is Admit without the disk: Flush must follow before the effect is carried out. An effect that changes nothing,
// as those do that come twice, costs no write. O(containers).
func (b *Book) note(e checkpoint.Effect) Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A job that is not known has the zero page, whose marks name no attempt.
	page, known := b.known.Jobs[e.Job]
	if !known {
		// It may have had a page, and what was asked of it then may come late.
		page.Lapsed = b.known.Floor
	}
	before := Fence{b.known.Epoch, b.known.Witness, page.Marks}
	after, verdict := before.Admit(e)
	held := page.Containers
	if verdict.Ruling == Perform {
		// A Create says how many there are from now on; a Release at most lowers the number, since it
		// says what stays.
		switch on := b.on(e.Containers); e.Action {
		case checkpoint.Create:
			held = on
		case checkpoint.Release:
			held = min(held, on)
		}
	}
	// The witness by itself is not worth a write: it is on the disk with the next change, or is heard again.
	b.known.Witness, before.Witness = after.Witness, after.Witness
	if after == before && held == page.Containers {
		return verdict
	}
	b.known.Epoch, page.Marks, page.Containers = after.Epoch, after.Marks, held
	// An effect that was not admitted leaves no page behind, or a master that asks in vain would fill
	// the book.
	if known || page.Marks != before.Marks {
		b.known.Jobs[e.Job] = page
	}
	b.version++
	return verdict
}

// on counts the containers of a list that are on this server.
func (b *Book) on(containers []string) (n int) {
	for _, server := range containers {
		if server == b.server {
			n++
		}
	}
	return n
}

// Page returns what is known of a job. What it points to is shared: read it only.
func (b *Book) Page(job string) Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known.Jobs[job]
}

// Jobs returns the names of all jobs that the book knows, ascending.
func (b *Book) Jobs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.known.Jobs))
}

// Epoch returns the highest epoch of a master that has spoken to the server.
func (b *Book) Epoch() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known.Epoch
}

// Witness returns the newest that masters have asked for.
func (b *Book) Witness() checkpoint.Witness {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known.Witness
}

// update changes a page in memory; Flush makes the change durable. So what is known may be ahead of the disk, never
// behind it: an agent that dies in between has not acted on it.
func (b *Book) update(job string, change func(*Page)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	page := b.known.Jobs[job]
	change(&page)
	b.known.Jobs[job] = page
	b.version++
}

// Flush returns when all that was noted before it is durable. After an error some of it may be. The next
// Flush writes everything again.
func (b *Book) Flush() error {
	b.mu.Lock()
	// 1. wanted is what the caller has noted. Whatever is newer belongs to others.
	wanted := b.version
	b.mu.Unlock()
	// 2. One write at a time. mu is free meanwhile, so that effects of other jobs are noted while the
	// disk works; all that wait here are then served by one write.
	b.writer.Lock()
	defer b.writer.Unlock()
	b.mu.Lock()
	if b.durable >= wanted {
		b.mu.Unlock()
		return nil // another call has written it
	}
	// 3. What is written is the newest content and not that of wanted, so that those who wait behind
	// find their changes written.
	version := b.version
	data, err := json.Marshal(&b.known)
	b.mu.Unlock()
	// 4. The file is replaced as a whole: a crash leaves the book before or the book after. O(jobs of
	// the server).
	if err == nil {
		err = vfs.Write(b.fsys, BookFile, data)
	}
	if err != nil {
		return fmt.Errorf("agent: %s: %w", BookFile, err)
	}
	b.mu.Lock()
	b.durable = version
	b.mu.Unlock()
	return nil
}

// unwritten reports whether something is known that is not durable.
func (b *Book) unwritten() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.durable < b.version
}
