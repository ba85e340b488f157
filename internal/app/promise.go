package app

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// keepsPromises reports whether kube-scheduler heeds nominations that others
// make. Before Kubernetes 1.35 it took them back when it tried a pod again.
func keepsPromises(k *rest.Config) (bool, error) {
	client, err := discovery.NewDiscoveryClientForConfig(k)
	if err != nil {
		return false, fmt.Errorf("ask for the version of the API server: %w", err)
	}
	info, err := client.ServerVersion()
	if err != nil {
		return false, fmt.Errorf("ask for the version of the API server: %w", err)
	}
	return since(info, 35), nil
}

// since reports whether a server is at least of the given minor version.
func since(info *version.Info, minor int) bool {
	n, err := strconv.Atoi(strings.TrimRight(info.Minor, "+")) // clouds add a plus
	return err == nil && (info.Major != "1" || n >= minor)
}
