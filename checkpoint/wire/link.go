// This file implements links: addresses for browsers, which sign nothing.

package wire

import (
	"crypto/hmac"
	"encoding/hex"
	"net/url"
	"strconv"
	"time"
)

func (s Secret) linkOf(path, until string) []byte {
	return s.key.mac("apportion link 1", s.Cluster(), path, until)
}

// Link returns the path with a query by which a browser may read it until a time. Whoever has it may, and nothing else.
func (s Secret) Link(path string, until time.Time) string {
	// A link ends up in histories and logs of browsers: it opens one path, for reading, and ends with a second of the clock.
	text := strconv.FormatInt(until.Unix(), 10)
	return path + "?" + url.Values{"until": {text}, "sign": {hex.EncodeToString(s.linkOf(path, text))}}.Encode()
}

// Opens reports whether an address is a link that may be read now.
func (s Secret) Opens(address *url.URL, now time.Time) bool {
	// The text of the time is what was signed, and not its number: +7 and 7 are two texts.
	query := address.Query()
	sign, err := hex.DecodeString(query.Get("sign"))
	until, err2 := strconv.ParseInt(query.Get("until"), 10, 64)
	return err == nil && err2 == nil && now.Unix() <= until && hmac.Equal(sign, s.linkOf(address.Path, query.Get("until")))
}
