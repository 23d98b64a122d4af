// This file runs a real Nomad cluster on the loopback for the tests: one server, and clients whose containers are processes.

package nomad

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// nomadVariable holds the path of the nomad binary, which `make nomad` builds; requireVariable says that it must be there.
const (
	nomadVariable   = "APPORTION_NOMAD"
	requireVariable = "APPORTION_REQUIRE_NOMAD"
)

// cluster is a Nomad server and its clients, each a process.
type cluster struct {
	*processes.Group
	binary string
	client *api.Client
	port   int
	nodes  []string
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
	c := &cluster{Group: processes.New(t, "nomad"), binary: binary, nodes: nodes}
	c.port = processes.FreePorts(t, 3*(1+len(nodes)))
	c.configure("server", c.port, serverConfig)
	for i, node := range nodes {
		c.configure(node, c.port+3*(i+1), fmt.Sprintf(clientConfig, c.port+1, "apportion-"+filepath.Base(c.Dir)+"-"+node))
	}
	return c
}

// configure writes the configuration of an agent with three ports.
func (c *cluster) configure(name string, port int, more string) {
	c.Helper()
	c.Write(name+".hcl", fmt.Sprintf(agentConfig, filepath.Join(c.Dir, name), name, port, port+1, port+2)+more, 0o600)
}

// up starts all agents, with more configuration for each, and speaks to them as config says.
func (c *cluster) up(more string, config *api.Config) {
	c.Helper()
	for _, name := range append([]string{"server"}, c.nodes...) {
		text := must.Have(os.ReadFile(filepath.Join(c.Dir, name+".hcl")))(c)
		c.Write(name+".hcl", string(text)+more, 0o600)
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
	processes.Eventually(c, "all nodes are ready", 120*time.Second, func() bool {
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

// start starts an agent: the server, or a client.
func (c *cluster) start(name string) {
	c.Helper()
	c.Start(name, c.binary, "agent", "-config", filepath.Join(c.Dir, name+".hcl"))
}

// agentConfig is that of every agent, serverConfig and clientConfig what they have beside that.
const agentConfig = `
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
`

const serverConfig = `
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
client {
  enabled = true
  servers = ["127.0.0.1:%d"]
  cpu_total_compute = 8000
  memory_total_mb = 16000
  cgroup_parent = %q
  meta {
    zone = "west"
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
