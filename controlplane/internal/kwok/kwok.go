// Package kwok plays the kubelets of simulated machines: their heartbeats and the lives of their pods.
//
// It is kwok itself, in this process. It touches only nodes with the annotation kwok.x-k8s.io/node: fake. Setting that
// makes the machine live, removing it makes it silent.
package kwok

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/client/clientset/versioned"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/client"
)

// Nodes is the annotation of the nodes that kwok handles.
const Nodes = annotation + "=" + fake

//go:embed stages.yaml
var ownStages string

// Run starts the kubelets against the API server of kubeconfig and returns; they stop when ctx ends. Their leases last
// for four fifths of grace, the time after which the cluster calls a silent node NotReady.
func Run(ctx context.Context, kubeconfig string, grace time.Duration, errors io.Writer) error {
	ctx = log.NewContext(ctx, log.NewLogger(errors, log.LevelError))
	stages, err := stages()
	if err != nil {
		return fmt.Errorf("stages of the simulated kubelets: %w", err)
	}
	c, err := configure(kubeconfig)
	if err != nil {
		return fmt.Errorf("simulated kubelets: %w", err)
	}
	c.LocalStages = stages
	c.NodeLeaseDurationSeconds = uint(max(1, (grace * 4 / 5).Seconds()))
	k, err := controllers.NewController(c)
	if err != nil {
		return fmt.Errorf("simulated kubelets: %w", err)
	}
	if err := k.Start(ctx); err != nil {
		return fmt.Errorf("start the simulated kubelets: %w", err)
	}
	return nil
}

func configure(kubeconfig string) (controllers.Config, error) {
	// The limits of the client are off (-1): a thousand machines share this one.
	set, err := client.NewClientset("", kubeconfig)
	if err != nil {
		return controllers.Config{}, err
	}
	r, err := set.ToRESTConfig()
	if err != nil {
		return controllers.Config{}, err
	}
	r.QPS, r.RateLimiter = -1, nil
	dynamic, err := set.ToDynamicClient()
	if err != nil {
		return controllers.Config{}, err
	}
	mapper, err := set.ToRESTMapper()
	if err != nil {
		return controllers.Config{}, err
	}
	raw, err := rest.RESTClientFor(r)
	if err != nil {
		return controllers.Config{}, err
	}
	typed, err := kubernetes.NewForConfig(r)
	if err != nil {
		return controllers.Config{}, err
	}
	kwok, err := versioned.NewForConfig(r)
	if err != nil {
		return controllers.Config{}, err
	}
	return controllers.Config{
		Clock:                             clock.RealClock{},
		DynamicClient:                     dynamic,
		RESTClient:                        raw,
		RESTMapper:                        mapper,
		ImpersonatingDynamicClient:        set.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:          set.ToImpersonatingTypedClient(),
		TypedClient:                       annotated{typed},
		TypedKwokClient:                   kwok,
		ManageNodesWithAnnotationSelector: Nodes,
		CIDR:                              "10.244.0.0/16",
		NodeIP:                            "127.0.0.1",
		PodPlayStageParallelism:           8,
		NodePlayStageParallelism:          4,
		NodeLeaseParallelism:              8,
		PodsOnNodeSyncParallelism:         4,
		// A new run takes the leases of the one before at once, because it goes by the same name.
		ID: "kwok",
	}, nil
}

// stages returns kwok's own fast stages for pods, and ours.
func stages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	out := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	texts := append(strings.Split(ownStages, "\n---\n"), fast.DefaultPodReady, fast.DefaultPodComplete, fast.DefaultPodDelete)
	for _, text := range texts {
		s, err := config.UnmarshalWithType[*internalversion.Stage](text)
		if err != nil {
			return nil, err
		}
		out[s.Spec.ResourceRef] = append(out[s.Spec.ResourceRef], s)
	}
	return out, nil
}
