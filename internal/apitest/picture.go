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

// Show has a picture show what a store holds now of pools, claims, nodes and
// pods, as its watches would.
func Show(t *testing.T, c client.Reader, picture *cluster.Cluster) {
	t.Helper()
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
		picture.SetNodePool(&pools.Items[i])
	}
	for i := range claims.Items {
		there["claim "+claims.Items[i].Name] = true
		picture.SetClaim(&claims.Items[i])
	}
	for i := range nodes.Items {
		there["node "+nodes.Items[i].Name] = true
		picture.SetNode(&nodes.Items[i])
	}
	for i := range pods.Items {
		there["pod "+pods.Items[i].Name] = true
		picture.SetPod(&pods.Items[i])
	}
	vanish(picture, picture.World(), func(what string) bool { return !there[what] })
}

// vanish has a picture forget what is no more.
func vanish(picture *cluster.Cluster, w *world.World, is func(string) bool) {
	for _, p := range w.Places() {
		for _, pod := range p.Pods {
			if is("pod " + pod.Name) {
				picture.DeletePod(pod.Key)
			}
		}
		if p.Claim != nil && is("claim "+p.Claim.Name) {
			picture.DeleteClaim(p.Claim.Name, p.Claim.UID)
		}
		if p.Node != nil && is("node "+p.Node.Name) {
			picture.DeleteNode(p.Node.Name)
		}
	}
}
