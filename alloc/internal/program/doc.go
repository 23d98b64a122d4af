// Package program writes P2 as a mixed-integer linear program, for package mip and for the exact search of package embedded. The
// notation, and what each form means, is in the documentation of package mip.
package program
