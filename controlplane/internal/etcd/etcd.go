// Package etcd runs the store of the cluster, inside this process or as the etcd people know.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

// Endpoint is where an embedded etcd listens: a socket in the working directory. A relative name keeps clear of the
// limit of 108 characters that paths of sockets have, however deep the directory lies.
const Endpoint = "unix://etcd.sock:0"

const startTimeout = time.Minute

// Main runs etcd as a program of its own.
func Main(args []string) int {
	etcdmain.Main(args)
	return 0
}

// Start starts an etcd that keeps its data in dir and listens at Endpoint. The caller closes it.
func Start(ctx context.Context, dir string) (*embed.Etcd, error) {
	c := embed.NewConfig()
	c.Name = "default"
	c.Dir = dir
	c.LogLevel = "error"
	c.LogOutputs = []string{"stderr"}
	// What the kernel holds survives the death of this process, and a playground need not survive a power cut.
	c.UnsafeNoFsync = true

	client, err := url.Parse(Endpoint)
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse("unix://etcd-peer.sock:0")
	if err != nil {
		return nil, err
	}
	// A process that was killed leaves its sockets behind.
	for _, u := range []*url.URL{client, peer} {
		if err := os.Remove(u.Host); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove the old socket of etcd: %w", err)
		}
	}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{*client}, []url.URL{*peer}
	// What is advertised must look like a host; with one member it is never dialled.
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	c.InitialCluster = c.InitialClusterFromName(c.Name)

	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case err := <-e.Err():
		e.Close()
		return nil, fmt.Errorf("etcd in %s: %w", dir, err)
	case <-ctx.Done():
		e.Close()
		return nil, ctx.Err()
	case <-time.After(startTimeout):
		e.Close()
		return nil, fmt.Errorf("etcd in %s was not ready after %s", dir, startTimeout)
	}
}
