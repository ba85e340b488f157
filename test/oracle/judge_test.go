package oracle

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/engine/label"
)

// A pod may be refused a machine that would keep pods of the plan from being
// bound, as an empty domain does that they have to be spread over; but for pods
// of a lower priority none is refused.
func TestPodsAreRefusedForTheSakeOfNoLowerPriority(t *testing.T) {
	oracle := converse(t)
	for _, c := range []struct {
		priority int32
		want     string
		why      string
	}{
		{-1, "[]", "Pods that are planned come before it, and would not be bound."},
		{0, "[]", "They are its equals, and the plan has them."},
		{1, "[default/late on a new empty]", "kube-scheduler would bind it first, so the others have to wait."},
	} {
		q := Question{Rest: Rest{Placements: map[string]string{}, Refused: map[string][]string{"default/late": {"empty"}}}}
		q.Nodes = []corev1.Node{host("node-0")}
		q.Empties = []corev1.Node{host("empty")}
		for i := range 2 {
			p := pending(fmt.Sprintf("web-%d", i))
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: label.Hostname, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}
			p.Labels = map[string]string{"app": "web"}
			q.Pods = append(q.Pods, p)
			q.Placements["default/"+p.Name] = "node-0"
		}
		late := pending("late")
		late.Spec.Priority = &c.priority
		late.Spec.NodeSelector = map[string]string{label.Hostname: "empty"}
		q.Pods = append(q.Pods, late)
		v, err := oracle.Ask(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(v.Possible); got != c.want || len(v.Wrong) > 0 {
			t.Errorf("priority %d: %s is possible and %q wrong, want %s: %s", c.priority, got, v.Wrong, c.want, c.why)
		}
	}
}

func host(name string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label.Hostname: name}}}
	n.Status.Allocatable = requests("4", "8Gi").Requests
	n.Status.Allocatable[corev1.ResourcePods] = *n.Status.Allocatable.Cpu()
	n.Status.Capacity = n.Status.Allocatable
	return n
}

func pending(name string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: requests("100m", "128Mi")}}},
	}
}
