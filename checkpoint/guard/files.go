// This file implements claims by files in a folder that guards and a desk both see, however late.

package guard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/internal/durable"
	"github.com/apportion/apportion/internal/regular"
)

// Files asks a desk by a folder that both see: the guard writes its claim, the desk writes its answer to the newest that
// it has found.
// The folder's permissions are the only protection: whoever can write there can claim, and can vouch.
type Files struct {
	// Dir is the folder. It must exist.
	Dir string
}

var _ Authority = (*Files)(nil)

// Renew implements Authority. The answer that it finds is one to an earlier claim, as a rule. A folder that hangs is left
// alone when the context ends.
func (f *Files) Renew(ctx context.Context, c Claim) (Grant, error) {
	return abandon.Do(ctx, func(ctx context.Context) (Grant, error) { return (&Letters{folder(f.Dir)}).Renew(ctx, c) })
}

// AnswerFiles answers the claims in a folder until the context ends, and looks for new ones after each pause. Files that
// are no claims are left alone; the error is that of the folder.
func (d *Desk) AnswerFiles(ctx context.Context, dir string, pause time.Duration) error {
	var fault error
	ctx, end := context.WithCancel(ctx)
	defer end()
	d.AnswerLetters(ctx, folder(dir), pause, func(err error) { fault = err; end() })
	return fault
}

// folder is a folder as a place for letters. A file in it is replaced by a rename, so that nobody reads half a letter.
type folder string

// Put implements Place.
// It is not synced. A claim that a crash of the machine takes away is made again, and so is its answer.
func (f folder) Put(_ context.Context, name string, text []byte) error {
	return durable.ReplaceFile(filepath.Join(string(f), name), text)
}

// Get implements Place. It waits for nobody, whatever lies there.
// What is longer than maxBody is cut, and is no JSON then.
func (f folder) Get(_ context.Context, name string) ([]byte, error) {
	return regular.Read(filepath.Join(string(f), name), maxBody)
}

// List implements Place.
func (f folder) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// read reads a file that holds one value as JSON, and waits for nobody.
func read(name string, value any) error {
	text, err := regular.Read(name, maxBody)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
