package snapshot

import (
	"context"
	"fmt"
	"io"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/observe"
)

// objectsPerRequest is how many objects one request asks for.
const objectsPerRequest = 1000

// resources are what a live cluster is asked for, all read only.
func resources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "limitranges"},
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "persistentvolumes"},
		{Version: "v1", Resource: "persistentvolumeclaims"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
		{Group: "karpenter.sh", Version: "v1alpha1", Resource: "nodeoverlays"},
		{Group: "karpenter.sh", Version: "v1alpha5", Resource: "provisioners"},
		{Version: "v1", Resource: "pods"},
	}
}

// allocations are what it is asked for as well where devices are planned for.
func allocations() []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, plural := range []string{"resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices"} {
		out = append(out, resourcev1.SchemeGroupVersion.WithResource(plural))
	}
	return out
}

// connect returns how to reach the cluster that is meant.
func (s *Source) connect() (*rest.Config, error) {
	config, err := verb.Cluster{Kubeconfig: s.Kubeconfig, Context: s.Context}.Connect(", or files with -f")
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100
	return config, nil
}

// remedy is what helps where a cluster does not show its objects.
func remedy(err error) string {
	text := verb.Remedy(err)
	switch {
	case apierrors.IsForbidden(err):
		return text + ", or for get on services/proxy of the controller's Service, which serves all that a plan depends on"
	case apierrors.IsUnauthorized(err):
		return text
	}
	return text + ", or give files with -f"
}

// overlays lists the NodeOverlays of a cluster. One that cannot be read counts for the controller as little as here.
func overlays(ctx context.Context, config *rest.Config) ([]observe.Overlay, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	list, err := client.Resource(schema.GroupVersionResource{Group: v1alpha1.Group, Version: "v1alpha1", Resource: "nodeoverlays"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodeoverlays of %s: %w", config.Host, err)
	}
	var out []observe.Overlay
	for i := range list.Items {
		o := &v1alpha1.NodeOverlay{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, o); err != nil {
			return nil, fmt.Errorf("read NodeOverlay %q: %w", list.Items[i].GetName(), err)
		}
		if read, err := observe.NodeOverlay(o); err == nil && len(o.Problems()) == 0 {
			out = append(out, read)
		}
	}
	return out, nil
}

// live lists everything a plan depends on from a cluster. A kind the cluster
// does not have is left out, but those of devices, if they are wanted.
func live(ctx context.Context, config *rest.Config, devices bool, progress io.Writer) ([]object, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	known := kinds()
	var out []object
	all := resources()
	if devices {
		all = append(allocations(), all...)
	}
	for _, r := range all {
		n := len(out)
		opts := metav1.ListOptions{Limit: objectsPerRequest}
		for {
			list, err := client.Resource(r).List(ctx, opts)
			if apierrors.IsNotFound(err) && r.Group == resourcev1.GroupName {
				return nil, verb.BadInputf("--%s=false: %s does not serve %s, as Kubernetes 1.34 and later do: leave the flag out", ignoreDevices, config.Host, resourcev1.SchemeGroupVersion)
			}
			if apierrors.IsNotFound(err) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("list %s of %s: %w; %s", r.Resource, config.Host, err, remedy(err))
			}
			for i := range list.Items {
				data, err := list.Items[i].MarshalJSON()
				if err != nil {
					return nil, fmt.Errorf("read %s %s: %w", r.Resource, list.Items[i].GetName(), err)
				}
				objects, err := decode(document{file: config.Host + " " + r.Resource, index: i + 1, data: data}, known, head{})
				if err != nil {
					return nil, err
				}
				out = append(out, objects...)
			}
			if opts.Continue = list.GetContinue(); opts.Continue == "" {
				break
			}
			fmt.Fprintf(progress, "%s: %d so far\n", r.Resource, len(out)-n)
		}
	}
	return out, nil
}
