//go:build unix

// This file speaks with application masters of users' own, which follow decisions by the holder's library: orders and
// answers are files, each in a folder that only its writer can change.

package yarn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// masters are the application masters that follow. Each application has a folder, by its ID.
// mu keeps a read and the write that follows together; the masters themselves only read.
type masters struct {
	folder string
	mu     sync.Mutex
}

// The files of an application: orders, and the folder of its user's with the answer.
const (
	ordersName = "orders.json"
	toldName   = "told"
	answerName = "stands.json"
)

// longestAnswer is what is read of an answer at most, in bytes.
// A user's master could otherwise have the controller read without an end.
const longestAnswer = 16 << 20

// orders are what an application is to hold.
// They are a file and not a call, so that a master that was away finds the newest word, and a controller
// that was killed needs no connection back.
type orders struct {
	// Job is the job's name, and User whose it is.
	Job  string `json:"job"`
	User string `json:"user"`
	// Run is the newest run that is wanted, as the holder is told; nil: none was yet. All up to Stop are to end.
	Run  map[string]any `json:"run,omitempty"`
	Stop int64          `json:"stop"`
	// Status is how the application is to end, and Why why; "": it goes on.
	Status string `json:"status,omitempty"`
	Why    string `json:"why,omitempty"`
}

// applicationID is how YARN names applications. Their folders have the same names.
// A text of any other form must not become one: it could lead to another folder.
var applicationID = regexp.MustCompile(`^application_[0-9]+_[0-9]+$`)

// follow returns how the application of a job stands that follows by a master of its user's, which is told that it may.
func (m *masters) follow(id, job, owner string) (held, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := filepath.Join(m.folder, id, toldName)
	if err := os.MkdirAll(told, 0o700); err != nil {
		return held{}, err
	}
	// Whoever submitted the job looks after its master: only it may write there, and pass above.
	if err := errors.Join(os.Chmod(filepath.Join(m.folder, id), 0o711), giveTo(owner, told)); err != nil {
		return held{}, err
	}
	// Orders that are there are kept: another controller may have written them.
	o, err := m.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		o = &orders{Job: job, User: owner}
		err = m.write(id, o)
	}
	if err == nil {
		err = giveTo(o.User, filepath.Join(m.folder, id, ordersName)) // whoever has written them may have died before
	}
	if err != nil {
		return held{}, err
	}
	return m.stands(id)
}

// order changes the orders of an application.
// Orders that were never written are an error: a master must have been told first that it may follow.
func (m *masters) order(id string, change func(*orders)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, err := m.read(id)
	if err != nil {
		return err
	}
	change(o)
	return m.write(id, o)
}

// read reads orders.
// The error wraps fs.ErrNotExist where its master was never told anything.
func (m *masters) read(id string) (*orders, error) {
	text, err := os.ReadFile(filepath.Join(m.folder, id, ordersName))
	if err != nil {
		return nil, err
	}
	o := &orders{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, fmt.Errorf("the orders of %s: %w", id, err)
	}
	return o, nil
}

// write writes orders, which nobody but the user of the application can read.
// It is written whole or not at all, and readable by one user only, as commands and variables of a job are
// in it.
func (m *masters) write(id string, o *orders) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	name := filepath.Join(m.folder, id, ordersName)
	// Between the two calls nobody but this program's user can read the file.
	return errors.Join(vfs.WriteFile(name, text), giveTo(o.User, name))
}

// stands reads how an application stands, by its master's word.
// The file is the user's to write, so that nothing of it is believed beyond the job that it is about.
func (m *masters) stands(id string) (held, error) {
	// A link could name a file of somebody else's, and a pipe would not end.
	// Without waiting: nobody may hold up the controller by what he puts there.
	f, err := os.OpenFile(filepath.Join(m.folder, id, toldName, answerName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return held{State: "opening", Why: "its application master has not said a word yet"}, nil
	}
	if err != nil {
		return held{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return held{}, errors.Join(err, fmt.Errorf("the answer of %s is no file", id))
	}
	var h held
	if err := json.NewDecoder(io.LimitReader(f, longestAnswer)).Decode(&h); err != nil {
		return held{}, fmt.Errorf("the answer of %s: %w", id, err)
	}
	return h, nil
}

// known are the jobs of the applications that have a folder, by ID.
// A folder without orders is one that was just being made, and counts as none.
func (m *masters) known() (map[string]string, error) {
	folders, err := os.ReadDir(m.folder)
	if err != nil {
		return nil, err
	}
	jobs := map[string]string{}
	for _, folder := range folders {
		// Broken orders are an error: to forget them would start a job twice.
		switch o, err := m.read(folder.Name()); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			jobs[folder.Name()] = o.Job
		}
	}
	return jobs, nil
}

// forget removes the folder of an application that is over.
func (m *masters) forget(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return os.RemoveAll(filepath.Join(m.folder, id))
}

// giveTo gives files to a user, if this program may.
// Links are not followed: what is given away is the name itself.
// A program that is not root's serves its own user, whose the files are from the beginning.
func giveTo(owner string, names ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(owner)
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid) // which is a number on this system
	gid, _ := strconv.Atoi(u.Gid)
	for _, name := range names {
		err = errors.Join(err, os.Lchown(name, uid, gid))
	}
	return err
}
