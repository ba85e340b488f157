package playground

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
)

// followDecisions shows, until ctx ends, what nodes are asked for and given back, and which pods get none.
func (l *life) followDecisions(ctx context.Context, plain kubernetes.Interface, objects dynamic.Interface) {
	claims := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
	kind := schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	// Handlers are refused only by an informer that has stopped.
	_, _ = claims.ForResource(kind).Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) {
			if c, ok := claimOf(o); ok && !first {
				l.say("%s", asked(c))
			}
		},
		UpdateFunc: func(old, o any) {
			was, ok := claimOf(old)
			is, ok2 := claimOf(o)
			if ok && ok2 && was.DeletionTimestamp == nil && is.DeletionTimestamp != nil {
				l.say("%s", givenBack(is))
			}
		},
	})
	events := informers.NewSharedInformerFactoryWithOptions(plain, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("source", "karpenter").String()
	}))
	_, _ = events.Core().V1().Events().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) {
			e, ok := o.(*corev1.Event)
			if !ok || first {
				return
			}
			switch about := e.InvolvedObject; e.Reason {
			case "FailedScheduling":
				l.say("no node for pod %s/%s: %s", about.Namespace, about.Name, short(strings.TrimPrefix(e.Message, "Failed to schedule pod, ")))
			case "DisruptionTerminating":
				if why, ok := strings.CutPrefix(e.Message, "Disrupting NodeClaim: "); ok {
					l.say("the node of claim %s can be done without: %s", about.Name, strings.ToLower(why))
				}
			}
		},
	})
	claims.Start(ctx.Done())
	events.Start(ctx.Done())
	<-ctx.Done()
	claims.Shutdown()
	events.Shutdown()
}

func claimOf(o any) (*v1.NodeClaim, bool) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, false
	}
	var c v1.NodeClaim
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &c)
	return &c, err == nil
}

// asked says what a new claim is for.
func asked(c *v1.NodeClaim) string {
	text := fmt.Sprintf("%s asks for a node", poolOf(c))
	if pods := int(c.Spec.Resources.Requests.Pods().Value()); pods > 0 {
		text += " for " + podsOf(c, pods) + ": " + amounts(c.Spec.Resources.Requests)
	}
	for _, q := range c.Spec.Requirements {
		if q.Key == corev1.LabelInstanceTypeStable && q.Operator == corev1.NodeSelectorOpIn {
			text += fmt.Sprintf("; any of %d types will do", len(q.Values))
		}
	}
	return text + " (claim " + c.Name + ")"
}

// podsOf says how many pods a claim is for, daemons apart from those that it was asked for.
func podsOf(c *v1.NodeClaim, all int) string {
	asked := len(strings.Fields(c.Annotations[v1.Group+"/pods"]))
	if asked == 0 || asked >= all {
		return amount.Count(all, "pod")
	}
	return amount.Count(asked, "pod") + " and " + amount.Count(all-asked, "daemon pod")
}

// amounts says what is requested: CPU and memory first, then what is rarer.
func amounts(r corev1.ResourceList) string {
	parts := []string{r.Cpu().String() + " cpu", r.Memory().String() + " memory"}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		q := r[name]
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourcePods && !q.IsZero() {
			parts = append(parts, q.String()+" "+string(name))
		}
	}
	return strings.Join(parts, ", ")
}

// givenBack says that a claim is deleted.
func givenBack(c *v1.NodeClaim) string {
	return fmt.Sprintf("%s gives back node %s (claim %s)", poolOf(c), cmp.Or(c.Status.NodeName, "that is not there yet"), c.Name)
}

func poolOf(c *v1.NodeClaim) string {
	if name := c.Labels["karpenter.sh/nodepool"]; name != "" {
		return "pool " + name
	}
	return "provisioner " + c.Labels["karpenter.sh/provisioner-name"]
}

// short cuts a text that is too long for a line.
func short(text string) string {
	const most = 240
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}
