package playground_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/playground"
)

// theProgram builds the real tenon.
func theProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tenon")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tenon").CombinedOutput(); err != nil {
		t.Fatalf("build tenon: %v\n%s", err, out)
	}
	return program
}

// Tenon in a playground: pods get nodes, also after the controller was killed, and nodes that are deleted go with
// their machines.
func TestPodsGetNodes(t *testing.T) {
	needBinary(t)
	dir := filepath.Join(t.TempDir(), "a")
	t.Cleanup(func() { _, _ = playground.Stop(context.Background(), playground.Dir(dir)) })
	program := theProgram(t)
	up := func() {
		t.Helper()
		must(t, "up", "--dir", dir, "--detach", "--tenon", program, "--boot", "100ms", "--ready", "100ms")
	}
	up()
	c := client(t, dir)
	before := running(t, c, 5)

	// Machines are there again after a restart, and after the end of the controller.
	must(t, "down", "--dir", dir)
	up()
	must(t, "sim", "kill-controller", "--dir", dir)
	scale(t, c, 40)
	after := running(t, c, 40)
	if len(after) <= len(before) {
		t.Errorf("40 pods run on the nodes %v, 5 ran on %v", after, before)
	}
	for node := range before {
		if !after[node] {
			t.Errorf("node %s of 5 pods is not among those of 40: %v", node, after)
		}
	}
	scale(t, c, 0)
	for node := range after {
		if err := c.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	readyNodes(t, c, 0)
	must(t, "down", "--dir", dir)
}

func scale(t *testing.T, c kubernetes.Interface, to int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to)
	if _, err := c.AppsV1().Deployments("demo").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// running waits until so many pods of the demo run and returns their nodes.
func running(t *testing.T, c kubernetes.Interface, want int) map[string]bool {
	t.Helper()
	nodes := map[string]bool{}
	kubetest.Within(t, time.Minute, func() error {
		pods, err := c.CoreV1().Pods("demo").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		clear(nodes)
		n := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				n++
				nodes[p.Spec.NodeName] = true
			}
		}
		if n != want {
			return fmt.Errorf("%d of %d pods run, want %d", n, len(pods.Items), want)
		}
		return nil
	})
	return nodes
}

// The chart in a playground: helm installs it, its pods run as processes under their own service account, come back
// when they are killed, have logs, and end with the playground.
func TestTheChartRuns(t *testing.T) {
	needBinary(t)
	dir := filepath.Join(t.TempDir(), "a")
	t.Cleanup(func() { _, _ = playground.Stop(context.Background(), playground.Dir(dir)) })
	must(t, "up", "--dir", dir, "--detach", "--no-demo", "--tenon", theProgram(t), "--chart", "../../charts/karpenter", "--managed-nodes", "m5.4xlarge=2")
	c := client(t, dir)
	controllers := func(want int32) []corev1.Pod {
		t.Helper()
		var ready []corev1.Pod
		kubetest.Within(t, time.Minute, func() error {
			pods, err := c.CoreV1().Pods("karpenter").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter"})
			if err != nil {
				return err
			}
			ready = nil
			restarts := int32(0)
			for _, p := range pods.Items {
				if len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready {
					ready = append(ready, p)
					restarts += p.Status.ContainerStatuses[0].RestartCount
				}
			}
			if len(ready) != 2 || restarts != want {
				return fmt.Errorf("%d pods are ready after %d restarts, want 2 after %d", len(ready), restarts, want)
			}
			return nil
		})
		return ready
	}
	pods := controllers(0)
	if err := syscall.Kill(process(t, pods[0]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	pods = controllers(1)
	for _, p := range pods {
		if p.Spec.ServiceAccountName != "karpenter" {
			t.Errorf("pod %s runs as %s", p.Name, p.Spec.ServiceAccountName)
		}
		lines := int64(1)
		log, err := c.CoreV1().Pods("karpenter").GetLogs(p.Name, &corev1.PodLogOptions{Container: "controller", TailLines: &lines}).DoRaw(t.Context())
		if err != nil || strings.Count(string(log), "\n") != 1 {
			t.Errorf("the last line of %s: %q, %v", p.Name, log, err)
		}
	}
	must(t, "down", "--dir", dir)
	for _, p := range pods {
		if err := syscall.Kill(process(t, p), 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the process of pod %s has outlived the playground (%v)", p.Name, err)
		}
	}
}

// process is the number of the process that a pod is.
func process(t *testing.T, p corev1.Pod) int {
	t.Helper()
	id, err := strconv.Atoi(strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "process://"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}
