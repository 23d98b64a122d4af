// This file holds what all subcommands share: one run of a subcommand with its flags, its input and its output.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"runtime"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/backend"
)

// errUsage is what every error of the caller's command line is.
var errUsage = errors.New("usage")

// command is one run of a subcommand.
type command struct {
	// FlagSet is the subcommand's own: a flag of another subcommand is an error, and not ignored.
	*flag.FlagSet
	// solver, form, record, state and timeout are the flags, for the subcommands that have them.
	// solver is that of -solver, and form that of -form, whose names were checked when the flags were
	// read.
	solver backend.Backend
	form   string
	// effort is that of -effort; 0: the solver's own.
	effort int64
	// record and state are paths, empty where nothing is to be written.
	record string
	state  string
	// journal is that of -journal.
	journal string
	// acceptLoss is that of -accept-loss.
	acceptLoss string
	// strict is that of -strict, and refused how many lines of a stream were at fault.
	strict  bool
	refused int
	// job is that of -job, table and json are those of -table and -json, and changes read those of "what-if".
	job     string
	table   bool
	json    bool
	changes []func() (alloc.Change, error)
	// token is the path of -token.
	token string
	// when has the flags of "when".
	when whenOptions
	// try has the flags of "try".
	try tryOptions
	// service has the flags of "serve", and dispatch carries out another call for it.
	service  serviceOptions
	dispatch func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error
	// names are those of all subcommands, and flagsOf has the flags of each, for "completion".
	names   []string
	flagsOf func(name string) *flag.FlagSet
	// timeout is 0 for no limit.
	timeout time.Duration
	// in is the file or standard input, read to its end by all but the streams; out gets nothing but
	// JSON, or the MPS file of mps.
	in  io.Reader
	out io.Writer
	// errs gets JSON beside the answer.
	errs io.Writer
}

// serviceOptions are the flags of "serve".
type serviceOptions struct {
	listen                  string
	token, certificate, key string // paths
	body, memory            int64  // in bytes; memory 0: no limit
	most, atOnce            int
	timeout, idle           time.Duration // idle 0: sessions stay
}

func (c *command) serviceFlags() {
	o := &c.service
	c.StringVar(&o.listen, "listen", "unix:apportion.sock", "unix:`PATH`, or HOST:PORT, which needs -token, and but for a loopback address -cert and -key")
	c.StringVar(&o.token, "token", "", "`file` with the token that requests must show; nobody else may read it")
	c.StringVar(&o.certificate, "cert", "", "`file` with the certificate of the service, for TLS")
	c.StringVar(&o.key, "key", "", "`file` with the key of the certificate")
	c.Int64Var(&o.body, "body", maxLine, "the longest request in `bytes`")
	c.Int64Var(&o.memory, "memory", 1<<30, "no session is begun with more `bytes` in use; 0: no limit")
	c.IntVar(&o.most, "sessions", 100, "how `many` sessions there may be")
	c.IntVar(&o.atOnce, "at-once", runtime.NumCPU(), "how `many` answers are worked out side by side; others wait")
	c.DurationVar(&o.timeout, "timeout", time.Minute, "how long an answer may take: a decision is the best one until then")
	c.DurationVar(&o.idle, "idle", 24*time.Hour, "how long a session is kept that nobody uses; 0: for ever")
}

// A path is enough: the file says itself of which stream it is.
func (c *command) stateFlag() {
	c.StringVar(&c.state, "state", "",
		"file that holds the state after every line that was answered; if it exists, the stream\nis taken up behind the last of them; no link is followed, and one run at a time has it")
}

// It is off by default, since an answer that depends on the clock cannot be replayed.
func (c *command) timeoutFlag() {
	c.DurationVar(&c.timeout, "timeout", 0,
		"stop after this long with the best answer so far, for instance 10s; 0: never.\nWithout it the same input has the same answer, on every machine")
}

// limited returns a context that ends with ctx or after the timeout.
func (c *command) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout > 0 {
		return context.WithTimeout(ctx, c.timeout)
	}
	return context.WithCancel(ctx)
}

// write writes v as indented JSON.
func (c *command) write(v any) error { return writeJSON(c.out, v) }

func writeJSON(w io.Writer, v any) error {
	// Names may contain <, > and &, and the output goes to no web page: escaped they would not be those of
	// the input.
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// writeLine writes v as JSON on one line, at once.
func (c *command) writeLine(v any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
