// This file implements TLS, for clusters where nobody is to read what is said; signatures do not need it.

package wire

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

// ReadTLS reads a certificate and its key, both as PEM, for [HTTP] and for a listener of crypto/tls. Every certificate in the file is
// believed as an authority as well, so that one file of the chain up to the cluster's own authority serves both ends.
func ReadTLS(certificate, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("wire: certificate %s, key %s: %w", certificate, key, err)
	}
	chain, err := os.ReadFile(certificate)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(chain)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// HTTP returns what asks servers of the https scheme, which config must believe; nil: servers of this machine's authorities.
// It asks without the proxy that the environment may name, which could be a stranger's.
func HTTP(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, TLSClientConfig: config, MaxIdleConnsPerHost: 4, IdleConnTimeout: idleLimit}}
}
