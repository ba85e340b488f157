package apitest

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// Show has a cluster state show what a store holds now of pools, claims, nodes and
// pods, as its watches would.
func Show(t *testing.T, c client.Reader, state *cluster.Cluster) {
	t.Helper()
	known := held(state.World()) // what it learns of while this lists is not gone, but newer
	var (
		pools  v1.NodePoolList
		claims v1.NodeClaimList
		nodes  corev1.NodeList
		pods   corev1.PodList
	)
	if err := errors.Join(c.List(t.Context(), &pools), c.List(t.Context(), &claims), c.List(t.Context(), &nodes), c.List(t.Context(), &pods)); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range pools.Items {
		state.SetNodePool(&pools.Items[i])
	}
	for i := range claims.Items {
		there["claim "+claims.Items[i].Name] = true
		state.SetClaim(&claims.Items[i])
	}
	for i := range nodes.Items {
		there["node "+nodes.Items[i].Name] = true
		state.SetNode(&nodes.Items[i])
	}
	for i := range pods.Items {
		there["pod "+pods.Items[i].Name] = true
		state.SetPod(&pods.Items[i])
	}
	vanish(state, state.World(), func(what string) bool { return known[what] && !there[what] })
}

// vanish has a cluster state forget what is no more.
func vanish(state *cluster.Cluster, w *world.World, is func(string) bool) {
	for _, p := range w.Places() {
		for _, pod := range p.Pods {
			if is("pod " + pod.Name) {
				state.DeletePod(pod.Key)
			}
		}
		if p.Claim != nil && is("claim "+p.Claim.Name) {
			state.DeleteClaim(p.Claim.Name, p.Claim.UID)
		}
		if p.Node != nil && is("node "+p.Node.Name) {
			state.DeleteNode(p.Node.Name)
		}
	}
}

// held are the names of what a World holds.
func held(w *world.World) map[string]bool {
	names := map[string]bool{}
	for _, p := range w.Places() {
		for _, pod := range p.Pods {
			names["pod "+pod.Name] = true
		}
		if p.Claim != nil {
			names["claim "+p.Claim.Name] = true
		}
		if p.Node != nil {
			names["node "+p.Node.Name] = true
		}
	}
	return names
}
