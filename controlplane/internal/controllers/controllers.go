// Package controllers runs kube-controller-manager, inside this process or as the program people know.
package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/configz"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"

	"github.com/tenon-sh/tenon/controlplane/internal/pki"
)

// Main runs kube-controller-manager as a program of its own.
func Main(args []string) int {
	c := app.NewControllerManagerCommand()
	c.SetArgs(args[1:])
	return cli.Run(c)
}

// Run runs the controllers of Kubernetes until ctx ends. A node whose lease was not renewed for grace is NotReady.
func Run(ctx context.Context, kubeconfig string, files pki.Files, grace time.Duration, extra []string) error {
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return fmt.Errorf("kube-controller-manager: %w", err)
	}
	all, off, aliases := app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases()
	named := o.Flags(all, off, aliases)
	o.ParsedFlags = &named
	flags := pflag.NewFlagSet("kube-controller-manager", pflag.ContinueOnError)
	for _, set := range named.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(append(arguments(kubeconfig, files, grace), extra...)); err != nil {
		return fmt.Errorf("kube-controller-manager: %w", err)
	}
	config, err := o.Config(ctx, all, off, aliases)
	if err != nil {
		return fmt.Errorf("kube-controller-manager: %w", err)
	}
	// The configuration is published under a name of the whole process and has to be taken back.
	defer configz.Delete(app.ConfigzName)
	if err := app.Run(ctx, config.Complete()); err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-controller-manager: %w", err)
	}
	return nil
}

func arguments(kubeconfig string, f pki.Files, grace time.Duration) []string {
	// The controller looks at every node once in this period; it is a fraction of the grace, as in a cluster.
	look := min(5*time.Second, max(grace/8, 200*time.Millisecond))
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=true",
		"--root-ca-file=" + f.CA,
		"--service-account-private-key-file=" + f.ServiceAccount.Key,
		"--cluster-signing-cert-file=" + f.CA,
		"--cluster-signing-key-file=" + f.CAKey,
		"--cluster-name=tenon",
		"--node-monitor-grace-period=" + grace.String(),
		"--node-monitor-period=" + look.String(),
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--concurrent-gc-syncs=40",
	}
}
