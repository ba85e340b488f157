package verb

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Cluster says which cluster is meant, as kubectl does.
type Cluster struct {
	Kubeconfig string // empty: the usual one
	Context    string // empty: the current one
}

// Connect returns how to reach the cluster. or is what a user can do instead, such as ", or files with -f".
func (c Cluster) Connect(or string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	files := rules.Precedence
	if c.Kubeconfig != "" {
		files = []string{c.Kubeconfig}
	}
	all := map[string]*clientcmdapi.Context{}
	for _, file := range files {
		read, err := clientcmd.LoadFromFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && c.Kubeconfig == "":
			continue
		case err != nil:
			return nil, BadInputf("%w; give another kubeconfig%s", unreadable(file, err), or)
		}
		maps.Copy(all, read.Contexts)
	}
	if _, ok := all[c.Context]; !ok && c.Context != "" {
		return nil, BadInputf("the kubeconfig has no context %q: it has %s", c.Context, contexts(all))
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context}).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && c.Kubeconfig != "":
		return nil, BadInputf("%s: this kubeconfig names no cluster: it has no current context; give another%s", c.Kubeconfig, or)
	case clientcmd.IsEmptyConfig(err):
		return nil, BadInputf("there is no kubeconfig that names a cluster, neither by --kubeconfig, nor by KUBECONFIG, nor in ~/.kube/config; give one%s", or)
	case err != nil:
		return nil, BadInputf("find a cluster: %w; give another kubeconfig%s", err, or)
	}
	return config, nil
}

// Namespace is that of the kubeconfig's context, or default.
func (c Cluster) Namespace() string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	name, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context}).Namespace()
	if err != nil || name == "" {
		return "default"
	}
	return name
}

// unreadable says why a file is no kubeconfig.
func unreadable(file string, err error) error {
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("read kubeconfig %s: %w", file, broken.Err)
	}
	const want = "which is a document of apiVersion v1 and kind Config"
	if runtime.IsNotRegisteredError(err) { // of which the words are about a scheme
		return fmt.Errorf("%s is of another kind than a kubeconfig, %s", file, want)
	}
	return fmt.Errorf("%s is not a kubeconfig, %s: %w", file, want, err)
}

// contexts names what may be chosen.
func contexts(all map[string]*clientcmdapi.Context) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// Remedy is what helps where a cluster does not show its objects.
func Remedy(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "ask for the right to list them"
	case apierrors.IsUnauthorized(err):
		return "the kubeconfig's user is not known there: log in again, or give another kubeconfig"
	}
	return "see whether `kubectl get nodes` reaches it with the same kubeconfig"
}
