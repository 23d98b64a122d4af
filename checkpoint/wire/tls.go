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
	config, err := ReadAuthorities(certificate)
	if err == nil {
		config.Certificates = []tls.Certificate{pair}
	}
	return config, err
}

// ReadAuthorities reads certificates as PEM, for [HTTP]: those that they vouch for are believed, and no others.
func ReadAuthorities(file string) (*tls.Config, error) {
	chain, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(chain) {
		return nil, fmt.Errorf("wire: %s has no certificate", file)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// HTTP returns what asks servers of the https scheme, which config must believe; nil: servers of this machine's authorities.
// It asks without the proxy that the environment may name, which could be a stranger's.
func HTTP(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, TLSClientConfig: config, MaxIdleConnsPerHost: 4, IdleConnTimeout: idleLimit}}
}
