// Package remainders groups servers that are alike in all that a fit asks about, so that best fit looks at groups and not at servers.
package remainders
