package playground

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tenon-sh/tenon/internal/clock"
)

// A life is the log that people read: what happens in the cluster, a line each.
type life struct {
	now clock.Now

	mu  sync.Mutex
	out io.Writer
}

func (l *life) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s  %s\n", l.now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// note says something beside what happens, in lines of its own.
func (l *life) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "\n%s\n", fmt.Sprintf(format, args...))
}

// follow shows nodes and pods until ctx ends, and calls gone for each node that was deleted.
func (l *life) follow(ctx context.Context, c kubernetes.Interface, gone func(node string)) {
	f := informers.NewSharedInformerFactory(c, 0)
	nodes, pods := f.Core().V1().Nodes().Informer(), f.Core().V1().Pods().Informer()
	_ = pods.SetTransform(func(o any) (any, error) { return slim(o), nil })
	// Handlers are refused only by an informer that has stopped.
	_, _ = nodes.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) {
			if n := o.(*corev1.Node); !first {
				l.say("node %s (%s, %s) is there, %s", n.Name, n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelTopologyZone], readiness(n))
			}
		},
		UpdateFunc: func(old, o any) {
			if was, is := readiness(old.(*corev1.Node)), readiness(o.(*corev1.Node)); was != is {
				l.say("node %s is %s", o.(*corev1.Node).Name, is)
			}
		},
		DeleteFunc: func(o any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o)
			if err == nil {
				l.say("node %s is gone", name)
				gone(name)
			}
		},
	})
	f.Start(ctx.Done())
	l.count(ctx, pods)
	f.Shutdown()
}

// slim keeps of a pod what is counted.
func slim(o any) any {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o
	}
	s := &corev1.Pod{ObjectMeta: p.ObjectMeta, Spec: corev1.PodSpec{NodeName: p.Spec.NodeName}, Status: corev1.PodStatus{Phase: p.Status.Phase}}
	s.ManagedFields, s.Annotations, s.Labels = nil, nil, nil
	return s
}

// count shows how many pods wait and run, at most once a second and when it has changed.
func (l *life) count(ctx context.Context, pods cache.SharedIndexInformer) {
	last := "pods: 0 run, 0 wait for a node"
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		run, wait := 0, 0
		for _, o := range pods.GetStore().List() {
			switch p := o.(*corev1.Pod); {
			case p.Status.Phase == corev1.PodRunning:
				run++
			case p.Status.Phase == corev1.PodPending && p.Spec.NodeName == "":
				wait++
			}
		}
		if text := fmt.Sprintf("pods: %d run, %d wait for a node", run, wait); text != last {
			l.say("%s", text)
			last = text
		}
	}
}

func readiness(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			switch c.Status {
			case corev1.ConditionTrue:
				return "ready"
			case corev1.ConditionUnknown:
				return "not heard of: not ready, unreachable"
			}
		}
	}
	return "not ready"
}
