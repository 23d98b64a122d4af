// This file keeps what the lease needs beside the agent's memory: a clock that no jump of the time of day
// moves, and the newest stamp on a disk, so that a lease goes on while its agent is dead.

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// HeardFile is the name of the file with the newest stamp that an agent was handed back.
const HeardFile = "heard.json"

// began is when this process began to count where the system does not tell the time since its boot.
var began = time.Now()

// Uptime returns the stamp of this moment: on Linux the time since the machine was booted, which all
// processes share and no change of the clock moves. Elsewhere it is the time since this process began, so
// an agent that is started again has not heard of a master yet.
func Uptime() Stamp {
	if boot, err := bootID(); err == nil {
		if at, err := uptime(); err == nil {
			return Stamp{boot, at}
		}
	}
	// The number of a process is used again, so the moment of its begin is part of the name.
	return Stamp{fmt.Sprintf("process %d of %d", os.Getpid(), began.UnixNano()), time.Since(began)}
}

// boot is what bootID has read: a process does not outlive it.
var boot atomic.Pointer[string]

// bootID returns a random name of 128 bits that the kernel makes at each start.
func bootID() (string, error) {
	if known := boot.Load(); known != nil {
		return *known, nil
	}
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	boot.Store(&id)
	return id, nil
}

// uptime returns the time since the machine was booted, to a hundredth of a second.
//
// Time asleep counts, as it must: the master's clock has gone on, too. The first field is seconds
// since the boot, the second the idle time of all processors.
func uptime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, err
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	return time.ParseDuration(seconds + "s")
}

// readHeard returns the stamp that was kept; the zero Stamp if none was, or if it cannot be read: the lease
// is over then.
//
// An error is one of the disk, which the agent should not begin with; content that makes no sense is
// not, because it was written without a sync.
func readHeard(fsys vfs.FS) (heard Stamp, err error) {
	file, err := fsys.Open(HeardFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, nil
	}
	if err != nil {
		return Stamp{}, fmt.Errorf("agent: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	// heard may be half filled here, so the zero Stamp is returned and not heard.
	if err != nil || json.Unmarshal(data, &heard) != nil {
		return Stamp{}, nil
	}
	return heard, nil
}

// writeHeard keeps a stamp. It is not synced: it must survive the agent, not the machine, whose end is that
// of all processes as well.
func writeHeard(fsys vfs.FS, heard Stamp) error {
	data, err := json.Marshal(heard)
	if err != nil {
		return err
	}
	return vfs.Replace(fsys, HeardFile, data)
}
