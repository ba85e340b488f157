// Package helm runs helm.
package helm

import (
	"errors"
	"fmt"
	"os"

	"helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
)

// Main runs helm with args, its own name first, and returns the exit code.
func Main(args []string) int {
	kube.ManagedFieldsManager = "helm" // otherwise the name of this binary stands in managed fields
	root, err := cmd.NewRootCmd(os.Stdout, args[1:], cmd.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		return 1
	}
	// The names of the program differ (a link, a subcommand); cobra must read the arguments it is given.
	root.SetArgs(args[1:])
	err = root.Execute()
	if coded := (cmd.CommandError{}); errors.As(err, &coded) {
		return coded.ExitCode
	}
	if err != nil {
		return 1
	}
	return 0
}
