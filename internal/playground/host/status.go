package host

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A state is how the one container of a pod is.
type state struct {
	ID       string // of the process; empty: it does not run
	Started  metav1.Time
	Ready    bool
	Restarts int32
	Waiting  string // why it does not run
	Message  string
	Last     *corev1.ContainerStateTerminated // how the run before ended
}

func containerID(process string) string { return "process://" + process }

// report writes how the pod is. What cannot be written now is written with the next change.
func (p *pod) report(ctx context.Context, s state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = s
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": p.statusOf(s)})
	if err == nil {
		_, err = p.h.o.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{}, "status")
	}
	if err != nil && ctx.Err() == nil && ignoreNotFound(err) != nil {
		p.h.o.Say("the status of pod %s/%s: %v", p.Namespace, p.Name, err)
	}
}

// statusOf is what the API is to say of a container in state s.
func (p *pod) statusOf(s state) corev1.PodStatus {
	c := p.Spec.Containers[0]
	started := s.ID != ""
	container := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: s.Ready && started, Started: &started, RestartCount: s.Restarts,
	}
	phase := corev1.PodRunning
	if started {
		container.ContainerID = containerID(s.ID)
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: s.Started}
	} else {
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: s.Waiting, Message: s.Message}
		if s.Last == nil && s.Restarts == 0 {
			phase = corev1.PodPending
		}
	}
	if s.Last != nil {
		container.LastTerminationState.Terminated = s.Last
	}
	now := metav1.NewTime(p.h.o.Now())
	begun := p.Status.StartTime
	if begun == nil {
		begun = &now
		p.Status.StartTime = begun
	}
	ready := corev1.ConditionFalse
	if container.Ready {
		ready = corev1.ConditionTrue
	}
	out := corev1.PodStatus{
		Phase: phase, HostIP: loopback, HostIPs: []corev1.HostIP{{IP: loopback}}, PodIP: p.h.address, PodIPs: []corev1.PodIP{{IP: p.h.address}},
		StartTime: begun, ContainerStatuses: []corev1.ContainerStatus{container},
	}
	for kind, status := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodInitialized: corev1.ConditionTrue, corev1.PodReadyToStartContainers: corev1.ConditionTrue,
		corev1.ContainersReady: ready, corev1.PodReady: ready,
	} {
		condition := corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: now, ObservedGeneration: p.Generation}
		if status == corev1.ConditionFalse {
			condition.Reason, condition.Message = "ContainersNotReady", fmt.Sprintf("containers with unready status: [%s]", c.Name)
		}
		out.Conditions = append(out.Conditions, condition)
	}
	return out
}
