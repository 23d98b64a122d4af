// Package vfstest has disks for tests: [Mem] is a file system in memory that can crash and forgets what
// was not synced, and [Hooked] is any file system with operations that fail on demand. [WriteFile] and
// [Tree] fill one and show it.
package vfstest
