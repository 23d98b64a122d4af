// Package conflict says which constraints cannot hold together.
package conflict
