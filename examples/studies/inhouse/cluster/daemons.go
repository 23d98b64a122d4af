// This file runs the programs that run for long: master and agent.

package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	inner "github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// The times of a cluster where none are given. An agent ends its jobs after Lease without a master; the
// master gives an agent up after Grace, which is longer by more than a machine may be slow.
// announce is how often an agent says where it is, poll how often the master asks its agents.
const (
	Lease    = 10 * time.Second
	Grace    = 20 * time.Second
	announce = 500 * time.Millisecond
	poll     = 100 * time.Millisecond
)

// MasterOptions say how a master works, beside its place.
// Kinds and Decider are required.
type MasterOptions struct {
	Kinds     apportion.Kinds
	Decider   master.Decider
	SaveEvery time.Duration
	// SaveLimit, StallAfter and Retain are those of checkpoint.Config and driver.Options, and AcceptLoss as well.
	SaveLimit, StallAfter, Retain time.Duration
	AcceptLoss                    string
	// TLS are the files of a certificate; zero: calls are signed and not encrypted.
	TLS TLS
	// Listen is the address, "host:port"; port 0: a free one.
	Listen string
	// Store keeps the checkpoints; nil: the place's own.
	Store store.Store
	// Patience is how long a save, a stop or a start may take.
	Patience time.Duration
	// Grace is how long a server may be silent; 0: the constant Grace. Longer than every agent's Lease.
	Grace time.Duration
	// Trace makes the master note its effects in [TraceFile].
	Trace bool
}

// TraceFile is the file in the place with a line of JSON for every effect, see [driver.Traced].
const TraceFile = "effects.jsonl"

// RunMaster runs a master until the context ends or another one takes over. It prints its address.
func RunMaster(ctx context.Context, p Place, o MasterOptions, stdout io.Writer) error {
	config := master.Config{
		Dir: p.Join("master"), Shared: p.Shared(), Store: o.Store, Decider: o.Decider,
		Grace: cmp.Or(o.Grace, Grace), SaveEvery: o.SaveEvery, Poll: poll, StallAfter: o.StallAfter, Retain: o.Retain, AcceptLoss: o.AcceptLoss,
		// A thousand restarts: in these clusters a job dies because something was killed, and never by
		// itself.
		Protocol: checkpoint.Config{Kinds: o.Kinds, Restarts: 1000, SaveLimit: o.SaveLimit, Backoff: 200 * time.Millisecond, MaxBackoff: 2 * time.Second,
			Timeouts: checkpoint.Timeouts{Save: o.Patience, Verify: o.Patience, Stop: o.Patience, Resume: o.Patience, Confirm: o.Patience}},
	}
	for _, name := range []string{"journal", "specs"} {
		if err := os.MkdirAll(filepath.Join(config.Dir, name), 0o700); err != nil {
			return err
		}
	}
	var err error
	if config.Secret, err = p.Secret(); err != nil {
		return err
	}
	if config.Store == nil {
		if config.Store, err = p.Store(); err != nil {
			return err
		}
	}
	if o.Trace {
		file, err := os.OpenFile(p.Join(TraceFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		config.Trace = file
	}
	secured, err := o.TLS.config()
	if err != nil {
		return err
	}
	if err := p.publishAuthority(o.TLS); err != nil {
		return err
	}
	config.HTTP = wire.HTTP(secured)
	m, err := master.Open(config)
	if err != nil {
		return err
	}
	if o.AcceptLoss != "" {
		fmt.Fprintf(stdout, "the loss of journal %s is accepted: all servers are left alone for %v\n", o.AcceptLoss, config.Grace)
	}
	return serve(ctx, o.Listen, secured, func(ctx context.Context, url string) error {
		fmt.Fprintf(stdout, "master on %s\n", url)
		if err := p.publish(url); err != nil {
			return err
		}
		return m.Run(ctx)
	}, m.Handler())
}

// AgentOptions say how an agent works, beside its place.
type AgentOptions struct {
	Server apportion.Server
	// Lease is how long jobs run on without a master; 0: the constant Lease.
	Lease time.Duration
	// Listen is the address, "host:port"; empty: one that only this machine reaches. A host that is no address of this
	// machine's own does not tell a master where to call.
	Listen string
	// Master is the master's address, "http://host:port"; empty: the one that the place names.
	Master string
	// TLS are the files of a certificate; zero: calls are signed and not encrypted.
	TLS TLS
	// Key is the file of the agent's credential, which "inhouse key" writes; empty: the place's secret makes it.
	Key string
	// Store keeps the checkpoints; nil: the place's own.
	Store store.Store
	// Processes are the options of the runner for a job; Node is set for it. Nil: none.
	Processes func(inner.Work) command.Options
}

// RunAgent runs an agent until the context ends. Jobs run on then.
func RunAgent(ctx context.Context, p Place, o AgentOptions, stderr io.Writer) error {
	if err := store.CheckJob(o.Server.ID); err != nil {
		return fmt.Errorf("-name: %w", err)
	}
	dir := p.Join("agents", string(store.FolderOf(o.Server.ID)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	disk, err := vfs.NewOS(dir)
	if err != nil {
		return err
	}
	config := agent.Config{Server: o.Server.ID, Disk: disk, Shared: p.Shared(), Restored: filepath.Join(dir, "restore"),
		Store: o.Store, Runner: processes(p, &o), Lease: cmp.Or(o.Lease, Lease)}
	credential, err := o.credential(p)
	if err != nil {
		return err
	}
	if config.Store == nil {
		if config.Store, err = p.Store(); err != nil {
			return err
		}
	}
	// It has read what an agent before it has left.
	a, err := agent.New(config)
	if err != nil {
		return err
	}
	// Guards ask in a folder of the agent's, where nobody else can answer, and find the next agent there.
	guards, err := listenForGuards(dir)
	if err != nil {
		return err
	}
	go func() { _ = wire.Serve(ctx, guards, guard.Vouching(a)) }() // without it leases end, which is safe
	mux := http.NewServeMux()
	wire.HandleAgent(mux, credential.Gate(), a)
	secured, err := o.TLS.config()
	if err != nil {
		return err
	}
	return serve(ctx, cmp.Or(o.Listen, "127.0.0.1:0"), secured, func(ctx context.Context, url string) error {
		go o.register(ctx, p, credential, master.Registration{URL: url, Server: o.Server}, stderr)
		a.Run(ctx)
		return nil
	}, mux)
}

// credential is what the agent calls its master with.
// A credential is good for one server's calls and no other's.
func (o *AgentOptions) credential(p Place) (wire.Credential, error) {
	if o.Key != "" {
		text, err := os.ReadFile(o.Key)
		if err != nil {
			return wire.Credential{}, err
		}
		return wire.ReadCredential(text)
	}
	secret, err := p.Secret()
	return secret.Credential(wire.Party{Role: wire.Agent, Name: o.Server.ID}), err
}

// processes runs jobs as processes of this machine, by their commands.
func processes(p Place, o *AgentOptions) func(string, json.RawMessage) (runner.Runner, error) {
	work := p.Join("agents", string(store.FolderOf(o.Server.ID)), "work")
	return func(_ string, spec json.RawMessage) (runner.Runner, error) {
		w, err := inner.ReadWork(spec)
		if err != nil {
			return nil, err
		}
		var options command.Options
		if o.Processes != nil {
			options = o.Processes(w)
		}
		options.Node = o.Server.ID
		if options.Guard, err = guardOf(p.Join("agents", string(store.FolderOf(o.Server.ID)))); err != nil {
			return nil, err
		}
		options.Env = append(options.Env, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), AsProgram+"=1")
		return command.New(command.Commands{Start: w.Start, Resume: w.Resume, Work: work}, &options)
	}
}

// register tells the master again and again where the agent is: master or agent may be new.
func (o *AgentOptions) register(ctx context.Context, p Place, c wire.Credential, r master.Registration, stderr io.Writer) {
	var client *wire.Client // kept for as long as the master has this address
	for said := ""; ; {
		limited, cancel := context.WithTimeout(ctx, announce*4)
		base, err := o.Master, error(nil)
		if base == "" {
			base, err = p.masterURL()
		}
		if err == nil && (client == nil || client.Base != base) {
			client = c.Client(base)
			client.HTTP, err = p.asks(base, o.TLS)
		}
		if err == nil {
			err = client.Call(limited, "/register", r, &master.Nothing{})
		}
		cancel()
		text := ""
		if err != nil && ctx.Err() == nil {
			text = err.Error()
		}
		if text != said && text != "" {
			fmt.Fprintf(stderr, "agent %s: %s\n", r.Server.ID, text)
		}
		said = text
		select {
		case <-ctx.Done():
			return
		case <-time.After(announce):
		}
	}
}

// serve runs a daemon and what answers requests to it; the end of one ends the other.
func serve(ctx context.Context, address string, secured *tls.Config, daemon func(ctx context.Context, url string) error, handler http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	if secured != nil {
		listener, url = tls.NewListener(listener, secured), "https://"+listener.Addr().String()
	}
	served := make(chan error, 1)
	go func() {
		served <- wire.Serve(ctx, listener, handler)
		cancel()
	}()
	err = daemon(ctx, url)
	cancel()
	return errors.Join(err, <-served)
}
