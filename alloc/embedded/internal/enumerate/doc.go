// Package enumerate visits every allocation of a tiny instance, and proves the whole preference.
package enumerate
