//go:build !unix

// This file stands in for the flags of open(2) where there are none.

package regular

const nonblock, nofollow = 0, 0
