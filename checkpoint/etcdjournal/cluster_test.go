// This file holds the surroundings of a journal in tests: three members of etcd in this process, and the roads to them, which
// can be cut, slowed down, and made to lose answers.

package etcdjournal

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// cluster is etcd.
type cluster struct {
	t       *testing.T
	configs []*embed.Config
	members []*embed.Etcd // nil: it is down
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, members: make([]*embed.Etcd, 3)}
	var initial []string
	dir := t.TempDir()
	for i := range c.members {
		config := embed.NewConfig()
		config.Name, config.Dir, config.LogLevel = fmt.Sprint("m", i), filepath.Join(dir, fmt.Sprint(i)), "panic"
		peer, client := free(t), free(t)
		config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		config.TickMs, config.ElectionMs = 50, 500
		// No machine crashes here, and the disk is shared with other tests.
		config.UnsafeNoFsync = true
		initial = append(initial, config.Name+"="+peer.String())
		c.configs = append(c.configs, config)
	}
	for i, config := range c.configs {
		config.InitialCluster = strings.Join(initial, ",")
		c.start(i)
	}
	for _, m := range c.members {
		<-m.Server.ReadyNotify()
	}
	t.Cleanup(func() {
		for i := range c.members {
			c.stop(i)
		}
	})
	return c
}

// free returns an address that nobody listens on.
func free(t *testing.T) url.URL {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return url.URL{Scheme: "http", Host: l.Addr().String()}
}

func (c *cluster) start(i int) {
	c.t.Helper()
	m := must.Have(embed.StartEtcd(c.configs[i]))(c.t)
	c.members[i] = m
}

// stop ends a member without a farewell to its clients.
func (c *cluster) stop(i int) {
	if c.members[i] != nil {
		c.members[i].Server.HardStop()
		c.members[i].Close()
		c.members[i] = nil
	}
}

// leader is the member that leads, by the word of one that is in the majority.
func (c *cluster) leader() int {
	c.t.Helper()
	for range 200 {
		count := map[int]int{}
		for _, m := range c.members {
			for i, other := range c.members {
				if m != nil && other != nil && m.Server.Leader() == other.Server.MemberID() {
					count[i]++
				}
			}
		}
		for i, n := range count {
			if n >= 2 {
				return i
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatal("nobody leads")
	return 0
}

// part cuts a member off from the others, or with false joins it again.
func (c *cluster) part(i int, cut bool) {
	for k, m := range c.members {
		if k == i || m == nil {
			continue
		}
		if cut {
			m.Server.CutPeer(c.members[i].Server.MemberID())
			c.members[i].Server.CutPeer(m.Server.MemberID())
		} else {
			m.Server.MendPeer(c.members[i].Server.MemberID())
			c.members[i].Server.MendPeer(m.Server.MemberID())
		}
	}
}

// machine is where a master runs: it has roads of its own to the members.
type machine struct {
	client *clientv3.Client
	roads  []*road
}

// machine returns one with roads to some members; none: to all.
func (c *cluster) machine(members ...int) *machine {
	c.t.Helper()
	if len(members) == 0 {
		members = []int{0, 1, 2}
	}
	m := &machine{}
	var ends []string
	for _, i := range members {
		r := newRoad(c.t, c.configs[i].ListenClientUrls[0].Host)
		m.roads = append(m.roads, r)
		ends = append(ends, r.listener.Addr().String())
	}
	var err error
	m.client, err = clientv3.New(clientv3.Config{Endpoints: ends, DialTimeout: 2 * time.Second,
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = m.client.Close() })
	return m
}

func (m *machine) each(change func(*road)) {
	for _, r := range m.roads {
		r.mu.Lock()
		change(r)
		r.mu.Unlock()
	}
}

func (m *machine) cut()                 { m.each(func(r *road) { r.dead = true; r.drop() }) }
func (m *machine) restore()             { m.each(func(r *road) { r.dead, r.deaf, r.delay = false, false, 0 }) }
func (m *machine) deaf()                { m.each(func(r *road) { r.deaf = true }) }
func (m *machine) reset()               { m.each(func(r *road) { r.drop() }) }
func (m *machine) slow(d time.Duration) { m.each(func(r *road) { r.delay = d }) }

// road carries bytes between a client and a member.
type road struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	dead  bool          // nobody gets through
	deaf  bool          // answers are lost, questions are not
	delay time.Duration // of everything, each way
	ends  map[net.Conn]bool
}

func newRoad(t *testing.T, to string) *road {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	r := &road{listener: l, to: to, ends: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go r.join(near)
		}
	}()
	return r
}

func (r *road) state() (dead, deaf bool, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead, r.deaf, r.delay
}

// drop ends all connections. r.mu is held.
func (r *road) drop() {
	for c := range r.ends {
		_ = c.Close()
	}
	clear(r.ends)
}

func (r *road) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer far.Close()
	r.mu.Lock()
	dead := r.dead // it may have been cut since, and what is not among its ends was not dropped
	r.ends[near], r.ends[far] = true, true
	r.mu.Unlock()
	if dead {
		return
	}
	go r.carry(far, near, false)
	r.carry(near, far, true)
}

// carry moves bytes until an end is closed. back says that they are answers.
func (r *road) carry(to, from net.Conn, back bool) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		_, deaf, delay := r.state()
		time.Sleep(delay)
		if n > 0 && !(back && deaf) {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				_ = from.Close()
			}
			return
		}
	}
}

// brisk are options for tests: a master that dies is followed soon.
func brisk(prefix string) *Options {
	return &Options{Prefix: prefix, Lease: 2 * time.Second, Limit: 3 * time.Second}
}

func oneKind() checkpoint.Config { return checkpoint.Config{Kinds: apportion.Kinds{"slot"}} }

func server(id string) checkpoint.Event {
	return checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{1}}}
}

// master is a machine of the protocol and its journal.
type master struct {
	m *checkpoint.Machine
	j *Journal
}

// open opens a journal, which must succeed.
func open(t *testing.T, at *machine, prefix string) *master {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, j, err := Open(ctx, at.client, oneKind(), brisk(prefix))
	must.Do(t, err)
	return &master{m, j}
}

func (ms *master) append(e checkpoint.Event) error {
	if err := ms.m.Step(e); err != nil {
		return err
	}
	return ms.j.Append(ms.m.Ready().Record)
}

func servers(m *checkpoint.Machine) map[string]bool {
	known := map[string]bool{}
	for _, s := range m.Servers() {
		known[s.ID] = true
	}
	return known
}
