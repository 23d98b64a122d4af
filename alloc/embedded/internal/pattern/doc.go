// Package pattern lists what whole containers fit together on a server: maximal patterns by class of server, and the
// classes that a server comes to as its residents are freed.
package pattern
