package initialize

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/annotation"
)

// Unpublished returns the first of the drivers that has not published a whole pool of devices of a node. A pool is
// whole when there are as many slices of its latest generation as each of them says. Slices that name no node are of
// devices elsewhere, unless the node owns them.
func Unpublished(drivers []string, n *corev1.Node, all []resourcev1.ResourceSlice) (driver string, ok bool) {
	type pool struct {
		generation   int64
		slices, want int64
	}
	for _, d := range drivers {
		pools := map[string]pool{}
		for i := range all {
			s := &all[i].Spec
			if s.Driver != d || !of(&all[i], n) {
				continue
			}
			p, known := pools[s.Pool.Name]
			switch {
			case !known || s.Pool.Generation > p.generation:
				pools[s.Pool.Name] = pool{s.Pool.Generation, 1, s.Pool.ResourceSliceCount}
			case s.Pool.Generation == p.generation:
				p.slices++
				pools[s.Pool.Name] = p
			}
		}
		whole := false
		for _, p := range pools {
			whole = whole || p.slices == p.want
		}
		if !whole {
			return d, true
		}
	}
	return "", false
}

// of reports whether a slice is of a node.
func of(s *resourcev1.ResourceSlice, n *corev1.Node) bool {
	if s.Spec.NodeName != nil && *s.Spec.NodeName == n.Name {
		return true
	}
	return slices.ContainsFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" && o.UID == n.UID })
}

// devices is the step of a claim that is complete but for dynamic resources, which are looked up only for claims that
// name drivers: those that Karpenter made for pods with resource claims.
func (r *Reconciler) devices(ctx context.Context, c *v1.NodeClaim, n *corev1.Node) (Step, error) {
	wanted := annotation.DriversOf(c.Annotations[v1.AnnotationRequestedDRADrivers])
	var all []resourcev1.ResourceSlice
	for _, d := range wanted {
		var l resourcev1.ResourceSliceList
		if err := r.Live.List(ctx, &l, client.MatchingFields{resourcev1.ResourceSliceSelectorDriver: d}); err != nil {
			return Step{}, fmt.Errorf("devices that %s has published: %w", d, err)
		}
		all = append(all, l.Items...)
	}
	if d, missing := Unpublished(wanted, n, all); missing {
		return Step{Wait, v1.ReasonDRADriversNotPublished, fmt.Sprintf("DRA driver %q has not published its devices of this node; see whether its pod runs here", d)}, nil
	}
	return Step{Kind: Done}, nil
}
