// This file implements the secrets of a controller: drawn once, and kept in files that are nobody else's.

package daemon

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/checkpoint/wire"
)

// access is what lets people and guards in.
type access struct {
	// user is the token of people, and secret that by which guards are known.
	user   string
	secret wire.Secret
}

// userToken is the file of the token of people, and clusterName that in the shared folder which names the cluster.
const (
	userToken   = "user.token"
	clusterName = "cluster"
)

// belongs refuses a private folder of another cluster than the shared one. Journal, checkpoints and secret of the controller before are
// in its private folder: whoever takes over without them knows no job that runs. It is asked by the controller that leads, and the
// name tells nothing of the secret.
func belongs(shared, private string, secret wire.Secret) error {
	name, err := made(filepath.Join(shared, clusterName), secret.Cluster)
	if err == nil && name != secret.Cluster() {
		err = fmt.Errorf("daemon: the private folder %s is that of cluster %s, and %s belongs to cluster %s: give this controller the private folder of the one before it",
			private, secret.Cluster(), shared, name)
	}
	return err
}

// accessIn reads what lets people and guards in, or makes it at the first time.
// Both secrets are drawn once and kept, so that a page that was bookmarked and guards that run survive the
// controller.
func accessIn(private string) (access, error) {
	var a access
	var err error
	if a.user, err = made(filepath.Join(private, userToken), rand.Text); err != nil {
		return a, err
	}
	// A secret can always be written. What is none is refused until somebody removes the file.
	drawn := func() string {
		text, err := wire.NewSecret().MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	}
	text, err := made(filepath.Join(private, "guard.secret"), drawn)
	if err != nil {
		return a, err
	}
	return a, a.secret.UnmarshalText([]byte(text))
}

// made reads a file that is nobody else's, after it has made it if it was not there.
func made(name string, draw func() string) (string, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := place(name, draw()); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		text, err = os.ReadFile(name)
	}
	return strings.TrimSpace(string(text)), err
}

// place makes a file that only its owner can read. It has its name when it is whole, so that a crash leaves none that is empty; of
// two who try one makes it, the other's error is fs.ErrExist, and both read the same.
func place(name, line string) error {
	// Its mode is 0600.
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(line + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A rename would take the place of what another has made meanwhile.
	return os.Link(f.Name(), name)
}
