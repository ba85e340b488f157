package oracle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nominations are the pods that wait for each node they are nominated for.
type nominations map[string][]fwk.PodInfo

func (n nominations) add(p *corev1.Pod) error {
	info, err := framework.NewPodInfo(p)
	if err != nil {
		return err
	}
	n.AddNominatedPod(klog.Background(), info, nil)
	return nil
}

// AddNominatedPod is the framework's.
func (n nominations) AddNominatedPod(_ klog.Logger, p fwk.PodInfo, _ *fwk.NominatingInfo) {
	at := p.GetPod().Status.NominatedNodeName
	n[at] = append(n[at], p)
}

// DeleteNominatedPodIfExists is the framework's.
func (n nominations) DeleteNominatedPodIfExists(p *corev1.Pod) {
	at := p.Status.NominatedNodeName
	n[at] = slices.DeleteFunc(n[at], func(q fwk.PodInfo) bool { return q.GetPod().UID == p.UID })
}

// UpdateNominatedPod is the framework's; pods do not change here.
func (n nominations) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo) {}

// NominatedPodsForNode is the framework's.
func (n nominations) NominatedPodsForNode(node string) []fwk.PodInfo { return n[node] }
