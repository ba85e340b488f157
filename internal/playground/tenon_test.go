package playground_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/playground"
)

// theProgram is the real tenon, built once.
func theProgram(t *testing.T) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tenon-playground-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "tenon")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tenon").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tenon: %w\n%s", err, out)
	}
	return program, nil
})

// Tenon in a playground: pods get nodes, also after the controller was killed, and nodes that are deleted go with
// their machines.
func TestPodsGetNodes(t *testing.T) {
	t.Parallel() // it waits more than it computes, and each playground is a world of its own
	needBinary(t)
	dir := filepath.Join(t.TempDir(), "a")
	t.Cleanup(func() { _, _ = playground.Stop(context.Background(), playground.Dir(dir)) })
	program := theProgram(t)
	up := func() {
		t.Helper()
		must(t, "up", "--dir", dir, "--detach", "--controller", "process", "--tenon", program, "--boot", "100ms", "--ready", "100ms")
	}
	up()
	c := client(t, dir)
	before := running(t, c, 5)

	// Machines are there again after a restart, and after the end of the controller.
	must(t, "down", "--dir", dir)
	up()
	if said := must(t, "sim", "kill-controller", "--dir", dir); !strings.HasPrefix(said, "the controller: killed; it starts again by itself") {
		t.Errorf("of the controller that was killed it says %q", said)
	}
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
