// Command controlplane is a real Kubernetes control plane, kubectl and helm in one file.
//
// The name it is called by, or else its first argument, says which of them it is. `controlplane up` is all that a
// cluster without machines needs, in one process on the loopback interface.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-sh/tenon/controlplane/internal/apiserver"
	"github.com/tenon-sh/tenon/controlplane/internal/controllers"
	"github.com/tenon-sh/tenon/controlplane/internal/etcd"
	"github.com/tenon-sh/tenon/controlplane/internal/helm"
	"github.com/tenon-sh/tenon/controlplane/internal/kubectl"
	"github.com/tenon-sh/tenon/controlplane/internal/oracle"
	"github.com/tenon-sh/tenon/controlplane/internal/scheduler"
	"github.com/tenon-sh/tenon/controlplane/internal/up"
)

// A program is one of the names of this binary. It takes its arguments as os.Args has them, its own name first,
// and returns the exit code.
type program struct {
	name string
	says string
	main func(args []string) int
}

func programs() []program {
	return []program{
		{"up", "run a whole control plane on the loopback interface", up.Main},
		{"etcd", "the cluster's store", etcd.Main},
		{"kube-apiserver", "the API server", apiserver.Main},
		{"kube-scheduler", "the scheduler", scheduler.Main},
		{"kube-controller-manager", "the controllers of Kubernetes itself", controllers.Main},
		{"kubectl", "the command line client", kubectl.Main},
		{"helm", "the package manager", helm.Main},
		{"oracle", "ask the scheduler's plugins about plans", oracle.Main},
	}
}

func main() {
	if p, ok := named(filepath.Base(os.Args[0])); ok {
		os.Exit(p.main(os.Args))
	}
	if len(os.Args) < 2 {
		usage()
		os.Exit(2)
	}
	p, ok := named(os.Args[1])
	if !ok {
		usage()
		os.Exit(2)
	}
	// The programs read os.Args themselves in places, so it has to look as if they had been called by name.
	os.Args = os.Args[1:]
	os.Exit(p.main(os.Args))
}

func named(name string) (program, bool) {
	for _, p := range programs() {
		if p.name == name {
			return p, true
		}
	}
	return program{}, false
}

func usage() {
	fmt.Fprintf(os.Stderr, "Usage: controlplane PROGRAM [ARGUMENTS], or a link to it named as the program.\n\nPrograms:\n")
	for _, p := range programs() {
		fmt.Fprintf(os.Stderr, "  %-24s %s\n", p.name, p.says)
	}
}
