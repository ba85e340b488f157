// Package scheduler runs kube-scheduler, inside this process or as the program people know.
package scheduler

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/configz"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// Main runs kube-scheduler as a program of its own.
func Main(args []string) int {
	c := app.NewSchedulerCommand()
	c.SetArgs(args[1:])
	return cli.Run(c)
}

// Run schedules pods until ctx ends.
func Run(ctx context.Context, kubeconfig string, extra []string) error {
	o := options.NewOptions()
	flags := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	for _, set := range o.Flags.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(append(arguments(kubeconfig), extra...)); err != nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	config, scheduler, err := app.Setup(ctx, o)
	if err != nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	// The configuration is published under a name of the whole process and has to be taken back.
	defer configz.Delete("componentconfig")
	if err := app.Run(ctx, config, scheduler); err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	return nil
}

func arguments(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		// 50 a second, the default, is a minute and a half for the 5,000 pods of a small experiment.
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}
}
