package daemon

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Of many who make a secret at the same moment all read the same, which nobody else can read, and nothing else is left.
func TestMadeOnce(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "token")
	var texts [16]string
	var making sync.WaitGroup
	for i := range texts {
		making.Go(func() {
			text, err := made(name, rand.Text)
			if err != nil {
				t.Error(err)
			}
			texts[i] = text
		})
	}
	making.Wait()
	for _, text := range texts {
		if text != texts[0] || text == "" {
			t.Fatalf("%q beside %q", text, texts[0])
		}
	}
	entries := must.Have(os.ReadDir(dir))(t)
	must.Equal(t, len(entries), 1, entries)
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A crash at any moment leaves no file with the name that is not whole: it has its name last.
func TestMadeWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "token")
	text, err := made(name, func() string {
		// Whatever is there while the secret is drawn and written has another name.
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it has its name before it is drawn: %v", err)
		}
		return "a secret"
	})
	if err != nil || text != "a secret" {
		t.Fatalf("%q, %v", text, err)
	}
	// What is there is kept, and drawn no more.
	must.Equal(t, must.Have(made(name, func() string { t.Error("drawn again"); return "" }))(t), text)
	must.Err(t, place(name, "another"), fs.ErrExist, "placed twice")
	must.Fail(made(filepath.Join(dir, "none", "token"), rand.Text))(t, fs.ErrNotExist, "in no folder")
}
