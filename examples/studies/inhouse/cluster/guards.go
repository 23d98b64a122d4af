// This file puts the processes of jobs below guards, which end them when no agent vouches for them in time.

package cluster

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/guard"
)

// GuardWord is the subcommand that every program of a cluster has: it is the guard of one process of a job.
// Programs that embed this package must have it in their command line.
const GuardWord = "guard"

// socketName is the name of the socket at which an agent vouches for its runs, in its folder.
const socketName = "guards"

// RunGuard is the guard of a process; it ends this program with the exit status of the process.
func RunGuard(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	os.Exit(guard.Main([]string{self, GuardWord}, args, os.Stderr))
	return nil
}

// guardOf is the command of a guard that asks the agent of a folder.
func guardOf(folder string) ([]string, error) {
	self, err := os.Executable()
	return []string{self, GuardWord, "-socket", filepath.Join(folder, socketName)}, err
}

// listenForGuards listens at an agent's socket. One that an agent before has left is in the way.
func listenForGuards(folder string) (net.Listener, error) {
	path := filepath.Join(folder, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return net.Listen("unix", path)
}
