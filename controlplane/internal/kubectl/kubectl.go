// Package kubectl runs kubectl.
package kubectl

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins that a kubeconfig may name
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// Main runs kubectl with args, its own name first, and returns the exit code.
func Main(args []string) int {
	// kubectl logs while it is still being put together, so the verbosity is set before that.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(args))
	command := cmd.NewDefaultKubectlCommand()
	command.SetArgs(args[1:])
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err) // prints the error as people know it, and exits
	}
	return 0
}
