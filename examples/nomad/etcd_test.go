// This file tests controllers that follow each other by etcd, on a real Nomad cluster and a real etcd.

package nomad

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// newEtcd starts a member of etcd on the loopback, and returns where it listens.
func newEtcd(t *testing.T) string {
	t.Helper()
	port := processes.FreePorts(t, 2)
	at := func(i int) []url.URL { return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port+i)}} }
	config := embed.NewConfig()
	config.Dir, config.LogLevel = filepath.Join(t.TempDir(), "etcd"), "panic"
	config.ListenClientUrls, config.AdvertiseClientUrls = at(0), at(0)
	config.ListenPeerUrls, config.AdvertisePeerUrls = at(1), at(1)
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true // no machine crashes here
	member := must.Have(embed.StartEtcd(config))(t)
	t.Cleanup(member.Close)
	<-member.Server.ReadyNotify()
	return at(0)[0].String()
}

// A controller on another machine goes on when the first dies, or was cut off for longer than its lease: no lock is needed, and
// the first, when it goes on, ends.
func TestEtcd(t *testing.T) {
	b := newBench(t, "n1")
	b.Set("-etcd", newEtcd(t))
	b.submit("a", 4, 100000, nil)
	b.Holds(map[string]int{"a": 4})
	r := rand.New(rand.NewPCG(1, 0))
	b.Follow(r)
	b.Holds(map[string]int{"a": 4})
	b.submit("b", 4, 100000, nil)
	b.Holds(map[string]int{"a": 4, "b": 4})
	b.Replace(r)
	b.submit("c", 4, 100000, nil)
	b.Holds(map[string]int{"a": 3, "b": 3, "c": 2})
	b.Check()
}

func TestEtcdFlag(t *testing.T) {
	for _, test := range []struct {
		members, file string
		bad           bool
	}{{"http://a:2379,http://b:2379", "", false}, {"", "", true}, {"https://a:2379", "/nowhere/ca.pem", true}} {
		t.Setenv("ETCDCTL_CACERT", test.file)
		t.Setenv("ETCDCTL_USER", "anna:secret")
		config, err := etcdConfig(test.members)
		if (err != nil) != test.bad || err == nil && (len(config.Endpoints) != 2 || config.Username != "anna" || config.Password != "secret") {
			t.Errorf("%q: %+v, %v", test.members, config, err)
		}
	}
}
