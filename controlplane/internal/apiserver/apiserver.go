// Package apiserver runs kube-apiserver, inside this process or as the program people know.
package apiserver

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/tenon-sh/tenon/controlplane/internal/etcd"
	"github.com/tenon-sh/tenon/controlplane/internal/pki"
)

// Main runs kube-apiserver as a program of its own.
func Main(args []string) int {
	c := app.NewAPIServerCommand()
	c.SetArgs(args[1:])
	return cli.Run(c)
}

// Run serves the API on listener until ctx ends. It keeps to the library's options and leaves the program's command
// alone, because that one takes the signals of the whole process for itself.
func Run(ctx context.Context, listener net.Listener, files pki.Files, extra []string) error {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(append(arguments(files), extra...)); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("kube-apiserver: %s is not a TCP address", listener.Addr())
	}
	o.SecureServing.Listener = listener
	o.SecureServing.BindAddress = addr.IP
	o.SecureServing.BindPort = addr.Port
	// The gates are those of the process; the scheduler and the controllers read the same ones.
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("kube-apiserver: feature gates: %w", err)
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return fmt.Errorf("kube-apiserver: %w", utilerrors.NewAggregate(errs))
	}
	return app.Run(ctx, completed)
}

func arguments(f pki.Files) []string {
	return []string{
		"--etcd-servers=" + etcd.Endpoint,
		"--advertise-address=127.0.0.1",
		"--external-hostname=127.0.0.1",
		// The address of the default Service would be a loopback address, which Kubernetes refuses.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		// No kube-proxy runs here, so webhooks and aggregated APIs are reached at their endpoints.
		"--enable-aggregator-routing=true",
		"--client-ca-file=" + f.CA,
		"--tls-cert-file=" + f.Server.Cert,
		"--tls-private-key-file=" + f.Server.Key,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + f.ServiceAccount.Cert,
		"--service-account-signing-key-file=" + f.ServiceAccount.Key,
		"--requestheader-client-ca-file=" + f.CA,
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + f.FrontProxy.Cert,
		"--proxy-client-key-file=" + f.FrontProxy.Key,
	}
}
