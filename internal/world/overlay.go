// This file implements the runtime of a run: Go's own, with the few lines changed that let anything but the seed decide what comes next.

package world

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// GoVersion is the Go whose library is changed: New refuses one that reads otherwise where something is to change.
const GoVersion = "go1.26"

// Change is a piece of a source file, as it stands there once, and what stands there instead. File is below Go's "src", or a path that is
// not relative.
type Change struct{ File, From, To string }

// changes leave nothing to chance or to the machine. A Go whose source reads otherwise is refused: then they have to be looked at again.
var changes = []Change{
	// Nobody is preempted, and a system call keeps its place: goroutines change where they wait.
	{"runtime/proc.go", "func retake(now int64) uint32 {\n", "func retake(now int64) uint32 {\n\treturn 0\n"},
	// The queue of all is looked at when one's own is empty, and not at every 61st turn: turns of the collector are counted there.
	{"runtime/proc.go", "if pp.schedtick%61 == 0 && !sched.runq.empty() {", "if false && pp.schedtick%61 == 0 && !sched.runq.empty() {"},
	{"runtime/proc.go", "\tgoenvs()\n\tsecure()\n", "\tgoenvs()\n\tworldBegin()\n\tsecure()\n"},
	// Hashes of maps are those of every run, and what goroutines draw comes from the seed.
	{"runtime/rand.go", "\tif len(startupRand) >= 16 &&\n", "\tif true || len(startupRand) >= 16 &&\n"},
	{"runtime/rand.go", "\t\tfor i, c := range startupRand {\n\t\t\tseed[i%len(seed)] ^= c\n\t\t}\n", "\t\tseed[0] = 1\n"},
	{"runtime/rand.go", "func rand() uint64 {\n", "func rand() uint64 {\n\tif worldDraws() {\n\t\treturn worldNext()\n\t}\n"},
	{"runtime/select.go", "j := cheaprandn(uint32(norder + 1))", "j := uint32(worldNext()>>32) % uint32(norder+1)"},
	{"runtime/time.go", "t.rand = cheaprand()", "t.rand = uint32(worldNext() >> 32)"},
	{"crypto/internal/sysrand/rand.go", "func Read(b []byte) {\n", "func Read(b []byte) {\n\tfor i := range b {\n\t\tb[i] = byte(drawn())\n\t}\n\treturn\n"},
	{"crypto/internal/sysrand/rand.go", "func fatal(string)\n", "func fatal(string)\n\n//go:linkname drawn runtime.rand\nfunc drawn() uint64\n"},
	// A process that is stopped sleeps with its locks held: others that wait for them wait for the time as well.
	{"runtime/runtime2.go", "\twaitReasonSyncCondWait:          true,\n", "\twaitReasonSyncCondWait:          true,\n\twaitReasonSyncMutexLock:         true,\n\twaitReasonSyncRWMutexLock:       true,\n\twaitReasonSyncRWMutexRLock:      true,\n"},
	{"runtime/sema.go", "func internal_sync_nanotime() int64 {\n", "func internal_sync_nanotime() int64 {\n\treturn 0\n"},
	// The children of a context are cancelled in an order that no address decides.
	{"context/context.go", "\tchildren map[canceler]struct{} // set", "\tborn     uint64\n\tchildren map[canceler]uint64 // set"},
	{"context/context.go", "make(map[canceler]struct{})", "make(map[canceler]uint64)"},
	{"context/context.go", "\t\t\tp.children[child] = struct{}{}\n", "\t\t\tp.born++\n\t\t\tp.children[child] = p.born\n"},
	{"context/context.go", "\tfor child := range c.children {\n", "\tfor _, child := range c.inOrder() {\n"},
	{"context/context.go", "// A cancelCtx can be canceled.", inOrder + "\n// A cancelCtx can be canceled."},
	// What is measured begins at nought.
	{"time/time.go", "startNano int64 = runtimeNano() - 1\n", "startNano int64 = 946684800*1000*1000*1000 - 1\n"},
	// The time of day is an hour behind, right and an hour ahead by turns; what is measured is not.
	{"runtime/time.go", "\t\treturn sec, nsec, 0\n", "\t\treturn sec + worldHour(bubble.now), nsec, bubble.now\n"},
}

// inOrder is a method more of package context.
const inOrder = `func (c *cancelCtx) inOrder() []canceler {
	list := make([]canceler, 0, len(c.children))
	for child := range c.children {
		list = append(list, child)
		for i := len(list) - 1; i > 0 && c.children[list[i-1]] > c.children[list[i]]; i-- {
			list[i-1], list[i] = list[i], list[i-1]
		}
	}
	return list
}
`

const added = `package runtime

var worldState uint64

// worldBegin reads the seed, which has digits only.
func worldBegin() {
	for _, c := range []byte(gogetenv("WORLD_SEED")) {
		worldState = worldState*10 + uint64(c-'0')
	}
}

// worldDraws reports whether it is a goroutine of the run that draws, and not the scheduler or the collector.
//
//go:nosplit
func worldDraws() bool { return getg().bubble != nil }

// worldNext is splitmix64.
//
//go:nosplit
func worldNext() uint64 {
	worldState += 0x9e3779b97f4a7c15
	z := worldState
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func worldHour(now int64) int64 {
	const spell = 7 * 60 * 1000 * 1000 * 1000
	return (now/spell%3 - 1) * 3600
}
`

// overlay writes the changed files into a folder, and returns the name of what go build takes for -overlay.
func overlay(dir string, planted []Change) (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src")
	files := map[string]string{filepath.Join(source, "runtime", "zworld.go"): added}
	for _, c := range changes {
		c.File = filepath.Join(source, c.File)
		if err := c.apply(files); err != nil {
			return "", err
		}
	}
	library, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apportion/apportion").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(library)), "checkpoint", "guard")
	files[filepath.Join(folder, "played_linux.go")] = played
	files[filepath.Join(folder, "../../internal/world/cluster/linked.go")] = linked
	for _, c := range guards {
		c.File = filepath.Join(folder, c.File)
		if err := c.apply(files); err != nil {
			return "", err
		}
	}
	for _, c := range planted {
		if err := c.apply(files); err != nil {
			return "", err
		}
	}
	return Overlay(dir, files)
}

// apply changes the text of the file, which is read if it is not among the texts.
func (c *Change) apply(texts map[string]string) error {
	if texts[c.File] == "" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		texts[c.File] = string(text)
	}
	if strings.Count(texts[c.File], c.From) != 1 {
		return fmt.Errorf("world: %q is not there once in %s: look at it again", c.From, c.File)
	}
	texts[c.File] = strings.Replace(texts[c.File], c.From, c.To, 1)
	return nil
}

// Overlay writes texts of source files into a folder, and returns the name of what the go command takes for -overlay.
func Overlay(dir string, texts map[string]string) (string, error) {
	files := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range texts {
		to := filepath.Join(dir, fmt.Sprintf("%d_%s", len(files.Replace), filepath.Base(name)))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		files.Replace[name] = to
	}
	text, err := json.Marshal(files)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}
