// This file implements TLS between the programs of a cluster.

package cluster

import (
	"crypto/tls"
	"errors"
	"flag"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
)

// TLS are the files of a program's certificate and its key, as PEM. The certificate is good for the address that the program listens on,
// and has those of its authority behind it, see wire.ReadTLS.
type TLS struct{ Certificate, Key string }

// Flags adds -tls-cert and -tls-key.
func (t *TLS) Flags(flags *flag.FlagSet) {
	flags.StringVar(&t.Certificate, "tls-cert", "", "file of a certificate for the address listened on, and of its authorities: all calls go by TLS")
	flags.StringVar(&t.Key, "tls-key", "", "file of its key")
}

// config is nil without a certificate.
func (t *TLS) config() (*tls.Config, error) {
	if *t == (TLS{}) {
		return nil, nil
	}
	if t.Certificate == "" || t.Key == "" {
		return nil, errors.New("-tls-cert and -tls-key belong together")
	}
	return wire.ReadTLS(t.Certificate, t.Key)
}

// authorityFile is the file in the place with the certificates that users of the place believe.
const authorityFile = "authority.pem"

// publishAuthority tells the users of the place whom to believe. A certificate is no secret.
func (p Place) publishAuthority(t TLS) error {
	if t == (TLS{}) {
		return nil
	}
	chain, err := os.ReadFile(t.Certificate)
	if err != nil {
		return err
	}
	return vfs.WriteFile(p.Join(authorityFile), chain)
}

// asks is what asks a server at an address: by the certificate of a program, or else by the authorities of the place.
func (p Place) asks(base string, t TLS) (*http.Client, error) {
	if !strings.HasPrefix(base, "https:") {
		return nil, nil
	}
	if t != (TLS{}) {
		config, err := t.config()
		return wire.HTTP(config), err
	}
	config, err := wire.ReadAuthorities(p.Join(authorityFile))
	// Without the file it is an authority of this machine.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return wire.HTTP(config), err
}
