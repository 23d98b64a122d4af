// Package cellstest draws instances for tests that need cells too.
package cellstest
