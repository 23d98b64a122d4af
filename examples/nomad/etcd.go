// This file lets controllers on several machines follow each other: the journal is kept in etcd, and whoever leads there is the
// one that decides.

package nomad

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/etcdjournal"
)

// etcdKeys is what the names of the journal's keys begin with.
const etcdKeys = "/apportion/nomad/"

// dialLimit is how long a member of etcd may take to answer before another is asked.
const dialLimit = 5 * time.Second

// etcdFlags declares the flag that has the journal kept in etcd.
func etcdFlags(p *daemon.Program) func(*flag.FlagSet) {
	return func(flags *flag.FlagSet) {
		flags.Func("etcd", "the members of etcd, with commas, to keep the journal there: controllers on several machines follow each other. "+
			"Certificates and user as for etcdctl, by ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER", func(text string) error {
			config, err := etcdConfig(text)
			p.Journal = func(ctx context.Context, c checkpoint.Config) (*checkpoint.Machine, driver.Journal, io.Closer, error) {
				return openEtcd(ctx, config, c)
			}
			return err
		})
	}
}

// etcdConfig reads how etcd is reached.
func etcdConfig(members string) (clientv3.Config, error) {
	config := clientv3.Config{Endpoints: strings.Split(members, ","), DialTimeout: dialLimit, DialKeepAliveTime: dialLimit, DialKeepAliveTimeout: dialLimit}
	if members == "" {
		return config, errors.New("it names no member of etcd")
	}
	config.Username, config.Password, _ = strings.Cut(os.Getenv("ETCDCTL_USER"), ":")
	files := transport.TLSInfo{TrustedCAFile: os.Getenv("ETCDCTL_CACERT"), CertFile: os.Getenv("ETCDCTL_CERT"), KeyFile: os.Getenv("ETCDCTL_KEY")}
	if files.TrustedCAFile == "" && files.Empty() {
		return config, nil
	}
	var err error
	config.TLS, err = files.ClientConfig()
	return config, err
}

// openEtcd waits until this controller leads.
func openEtcd(ctx context.Context, config clientv3.Config, c checkpoint.Config) (*checkpoint.Machine, driver.Journal, io.Closer, error) {
	client, err := clientv3.New(config)
	if err != nil {
		return nil, nil, nil, err
	}
	machine, records, err := etcdjournal.Open(ctx, client, c, &etcdjournal.Options{Prefix: etcdKeys})
	if err != nil {
		return nil, nil, nil, errors.Join(err, client.Close())
	}
	return machine, records, client, nil
}
