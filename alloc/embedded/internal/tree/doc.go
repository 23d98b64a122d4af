// Package tree is branch and bound on who is freed.
package tree
