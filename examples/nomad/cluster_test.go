// This file runs a real Nomad cluster on the loopback for the tests: one server, and clients whose containers are processes.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
)

// nomadVariable holds the path of the nomad binary, which `make nomad` builds; requireVariable says that it must be there.
const (
	nomadVariable   = "APPORTION_NOMAD"
	requireVariable = "APPORTION_REQUIRE_NOMAD"
)

// cluster is a Nomad server and its clients, each a process.
type cluster struct {
	testing.TB
	binary, dir string
	client      *api.Client
	port        int
	nodes       []string
	agents      map[string]*exec.Cmd
}

// newCluster starts a server and as many clients as nodes are named.
func newCluster(t testing.TB, nodes ...string) *cluster {
	t.Helper()
	c := prepare(t, nodes...)
	c.up("", &api.Config{Address: c.address("http")})
	c.ready(len(nodes))
	return c
}

// prepare writes the configuration of a cluster.
func prepare(t testing.TB, nodes ...string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("real jobs on a real cluster take a minute")
	}
	binary := os.Getenv(nomadVariable)
	if binary == "" {
		if os.Getenv(requireVariable) != "" {
			t.Fatalf("%s is not set: make nomad builds it", nomadVariable)
		}
		t.Skipf("%s is not set: make nomad builds it", nomadVariable)
	}
	if os.Geteuid() != 0 {
		t.Skip("a Nomad client needs root")
	}
	c := &cluster{TB: t, binary: binary, dir: besidetest.Folder(t, "nomad"), agents: map[string]*exec.Cmd{}}
	t.Cleanup(c.close)
	c.port = besidetest.FreePorts(t, 3*(1+len(nodes)))
	c.write("server.hcl", fmt.Sprintf(serverConfig, filepath.Join(c.dir, "server"), c.port, c.port+1, c.port+2))
	for i, node := range nodes {
		p := c.port + 3*(i+1)
		c.write(node+".hcl", fmt.Sprintf(clientConfig, filepath.Join(c.dir, node), node, p, p+1, p+2, c.port+1, "apportion-"+filepath.Base(c.dir)+"-"+node, "west"))
	}
	c.nodes = nodes
	return c
}

// up starts all agents, with more configuration for each, and speaks to them as config says.
func (c *cluster) up(more string, config *api.Config) {
	c.Helper()
	for _, name := range append([]string{"server"}, c.nodes...) {
		text, err := os.ReadFile(filepath.Join(c.dir, name+".hcl"))
		if err != nil {
			c.Fatal(err)
		}
		c.write(name+".hcl", string(text)+more)
		c.start(name)
	}
	var err error
	if c.client, err = api.NewClient(config); err != nil {
		c.Fatal(err)
	}
}

// ready waits until so many nodes are.
func (c *cluster) ready(n int) {
	c.Helper()
	besidetest.Eventually(c, "all nodes are ready", 120*time.Second, func() bool {
		list, _, err := c.client.Nodes().List(nil)
		ready := 0
		for _, node := range list {
			if node.Status == api.NodeStatusReady {
				ready++
			}
		}
		return err == nil && ready == n
	})
}

func (c *cluster) address(scheme string) string {
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, c.port)
}

func (c *cluster) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// start starts an agent: the server, or a client.
func (c *cluster) start(name string) {
	c.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(c.binary, "agent", "-config", filepath.Join(c.dir, name+".hcl"))
	cmd.Stdout, cmd.Stderr = log, log
	// The mark by which all that it has started is found at the end: plugins have no path in their commands.
	cmd.Env = append(os.Environ(), "APPORTION_TEST_CLUSTER="+c.dir+"/")
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.agents[name] = cmd
}

// kill kills an agent. What it has started lives on.
func (c *cluster) kill(name string) {
	c.Helper()
	if err := c.agents[name].Process.Kill(); err != nil {
		c.Error(err)
	}
	_ = c.agents[name].Wait() // it was killed
}

// close kills all agents; the folder's cleaning kills what they leave behind.
func (c *cluster) close() {
	for name := range c.agents {
		_ = c.agents[name].Process.Kill() // it may be dead
		_ = c.agents[name].Wait()
	}
}

const serverConfig = `
data_dir = %q
bind_addr = "127.0.0.1"
name = "server"
disable_update_check = true
leave_on_terminate = false
ports {
  http = %d
  rpc = %d
  serf = %d
}
advertise {
  http = "127.0.0.1"
  rpc = "127.0.0.1"
  serf = "127.0.0.1"
}
consul {
  auto_advertise = false
  server_auto_join = false
  client_auto_join = false
}
server {
  enabled = true
  bootstrap_expect = 1
  raft_multiplier = 1
  heartbeat_grace = "2s"
  min_heartbeat_ttl = "2s"
  num_schedulers = 1
}
`

const clientConfig = `
data_dir = %q
bind_addr = "127.0.0.1"
name = %q
disable_update_check = true
leave_on_terminate = false
ports {
  http = %d
  rpc = %d
  serf = %d
}
advertise {
  http = "127.0.0.1"
  rpc = "127.0.0.1"
  serf = "127.0.0.1"
}
consul {
  auto_advertise = false
  server_auto_join = false
  client_auto_join = false
}
client {
  enabled = true
  servers = ["127.0.0.1:%d"]
  cpu_total_compute = 8000
  memory_total_mb = 16000
  cgroup_parent = %q
  meta {
    zone = %q
  }
  options = {
    "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault,cni,bridge"
    "driver.allowlist" = "raw_exec"
  }
}
plugin "raw_exec" {
  config {
    enabled = true
    no_cgroups = true
  }
}
`
