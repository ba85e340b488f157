package matrix

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// kubelets join, say how they are, start pods and end them.
func (w *testCluster) kubelets() {
	now := time.Now()
	for _, id := range keys(w.host) {
		h := w.host[id]
		switch {
		case h.node == "" && !h.mute && !h.never && !h.since.IsZero() && now.Sub(h.since) >= joins:
			w.join(h)
		case h.mute && h.quiet.IsZero():
			h.quiet = now
		case !h.mute:
			h.quiet = time.Time{}
		}
	}
	nodes := map[string]*corev1.Node{}
	for _, n := range all[corev1.Node](w.api) {
		h := w.hostOf(n.Name)
		if h == nil {
			continue
		}
		nodes[n.Name] = n
		dead := h.mute && now.Sub(h.quiet) >= silence
		if !dead && h.mute {
			continue
		}
		status, reason := corev1.ConditionTrue, "KubeletReady"
		if h.reason != "" {
			reason = h.reason
		}
		if dead {
			status, reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		}
		w.health(n, status, reason)
		if h.State == market.Terminated && dead { // the cloud controller finds no machine
			w.api.Remove(n, nil)
		}
	}
	for _, p := range all[corev1.Pod](w.api) {
		w.run(p, nodes[p.Spec.NodeName])
	}
}

func (w *testCluster) hostOf(node string) *host {
	for _, h := range w.host {
		if h.node == node {
			return h
		}
	}
	return nil
}

// health writes how a node is, and what follows.
func (w *testCluster) health(n *corev1.Node, status corev1.ConditionStatus, reason string) {
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i >= 0 && n.Status.Conditions[i].Status == status && n.Status.Conditions[i].Reason == reason {
		return
	}
	edit(w.api, n, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: reason, LastTransitionTime: metav1.Now()}}
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady
		})
		if status != corev1.ConditionTrue {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
		}
	})
}

// join registers a machine's node.
func (w *testCluster) join(h *host) {
	data, err := base64.StdEncoding.DecodeString(h.Data.UserData)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := kubelet.Parse(data)
	if err != nil {
		w.t.Fatal(err)
	}
	typ := w.market.Type(h.Type)
	n, err := kubelet.Node(kubelet.Machine{
		ID: h.ID, ProviderID: driver.ProviderID(h.Instance), NodeName: h.DNS, InstanceType: h.Type, Zone: h.Zone, Region: w.market.Region(), UserData: data,
		Capacity: corev1.ResourceList{
			"cpu": *resource.NewQuantity(int64(typ.VCPUs), resource.DecimalSI), "memory": *resource.NewQuantity(typ.MemoryMiB*97/100<<20, resource.BinarySI),
			"ephemeral-storage": resource.MustParse("20Gi"), "pods": resource.MustParse("29"),
		},
	}, s)
	if err != nil {
		w.t.Fatal(err)
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	if err := w.api.Add(n); err != nil {
		w.t.Fatal(err)
	}
	h.node = n.Name
}

// run starts a pod that is bound, or ends one that is to go.
func (w *testCluster) run(p *corev1.Pod, n *corev1.Node) {
	now := time.Now()
	zero := int64(0)
	h := w.hostOf(p.Spec.NodeName)
	switch {
	case p.Spec.NodeName == "":
	case n == nil || h == nil:
		w.api.Remove(p, &zero) // the collector of pods
	case h.mute && h.State != market.Terminated && p.DeletionTimestamp == nil && now.Sub(h.quiet) > silence+5*time.Minute:
		w.api.Remove(p, nil) // its toleration of the taint is over
	case h.mute:
	case p.DeletionTimestamp != nil:
		began := p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second)
		if now.Sub(began) >= leaves {
			w.api.Remove(p, &zero)
		}
	case !ready(p) && p.Status.StartTime != nil && now.Sub(p.Status.StartTime.Time) >= starts:
		edit(w.api, p, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
			}
		})
	}
}

// own makes the pods of workloads, and deletes what belonged to what is gone.
func (w *testCluster) own() {
	have := map[string][]*corev1.Pod{}
	for _, p := range all[corev1.Pod](w.api) {
		if p.DeletionTimestamp == nil {
			have[p.Labels["app"]] = append(have[p.Labels["app"]], p)
		}
	}
	for _, name := range keys(w.workers) {
		a, pods := w.workers[name], have[name]
		for i := a.replicas; i < len(pods); i++ {
			w.api.Remove(pods[i], nil)
		}
		for range a.replicas - len(pods) {
			w.serial++
			w.add(a.pod(w.serial))
		}
	}
	claims := map[string]bool{}
	for _, c := range all[v1.NodeClaim](w.api) {
		claims[string(c.UID)] = true
	}
	pools := map[string]bool{}
	for _, p := range all[v1.NodePool](w.api) {
		pools[string(p.UID)] = true
	}
	for _, c := range all[v1.NodeClaim](w.api) {
		if orphan(c, pools) {
			w.api.Remove(c, nil)
		}
	}
	for _, n := range all[corev1.Node](w.api) {
		if orphan(n, claims) {
			w.api.Remove(n, nil)
		}
	}
}

// orphan reports whether all that owns an object is gone.
func orphan(o client.Object, there map[string]bool) bool {
	refs := o.GetOwnerReferences()
	return len(refs) > 0 && o.GetDeletionTimestamp() == nil && !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return there[string(r.UID)] })
}

func (a *workload) pod(n int) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", a.name, n), Labels: map[string]string{"app": a.name}, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: a.name, UID: "00000000-0000-4000-8000-00000000abcd", Controller: new(true)},
		}},
		Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(a.cpu)},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if a.edit != nil {
		a.edit(p)
	}
	return p
}

// bind plays kube-scheduler: each pod that waits goes to the first node with room for it.
func (w *testCluster) bind() {
	free := map[string]*resource.Quantity{}
	nodes := all[corev1.Node](w.api)
	for _, n := range nodes {
		left := n.Status.Allocatable.Cpu().DeepCopy()
		free[n.Name] = &left
	}
	pods := all[corev1.Pod](w.api)
	for _, p := range pods {
		if left := free[p.Spec.NodeName]; left != nil {
			left.Sub(*p.Spec.Containers[0].Resources.Requests.Cpu())
		}
	}
	for _, p := range pods {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		need := p.Spec.Containers[0].Resources.Requests.Cpu()
		i := slices.IndexFunc(nodes, func(n *corev1.Node) bool { return takes(n, p) && free[n.Name].Cmp(*need) >= 0 })
		if i >= 0 {
			free[nodes[i].Name].Sub(*need)
			edit(w.api, p, func(p *corev1.Pod) {
				now := metav1.Now()
				p.Spec.NodeName, p.Status.StartTime = nodes[i].Name, &now
				p.Status.NominatedNodeName, p.ManagedFields = "", nil // as the API server does at a binding
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
			})
			continue
		}
		if len(p.Status.Conditions) == 0 {
			edit(w.api, p, func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			})
		}
	}
}

func takes(n *corev1.Node, p *corev1.Pod) bool {
	if n.Spec.Unschedulable || n.DeletionTimestamp != nil {
		return false
	}
	for k, v := range p.Spec.NodeSelector {
		if n.Labels[k] != v {
			return false
		}
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
}
