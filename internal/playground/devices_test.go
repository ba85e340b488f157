package playground_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Pods with resource claims are refused; once the chart says otherwise, machines come that have their devices, and the
// real scheduler allocates these and binds the pods. A pod that no node could give what it asks for is told why.
// It takes a minute, and is told when TENON_TEST_CHART is all.
func TestDevices(t *testing.T) {
	if os.Getenv("TENON_TEST_CHART") != "all" {
		t.Skip("set TENON_TEST_CHART=all to have real pods get devices of resource claims")
	}
	r := read(t)
	class, err := os.ReadFile(filepath.Join(r.dir, "default.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(class), "\n---")
	r.apply(text)
	objects, err := os.ReadFile(filepath.Join("testdata", "devices.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.apply(string(objects))
	kubetest.Within(t, time.Minute, func() error { return r.told("train", "asks for devices by resource claim") })
	if claims := r.run("kubectl", "get", "nodeclaims", "-o", "name"); claims != "" {
		t.Errorf("there are %s, and nothing is planned for such pods", claims)
	}

	r.run("helm", "upgrade", "karpenter", "oci://"+r.contact.Charts+"/karpenter/karpenter", "--plain-http", "-n", "karpenter", "--reset-then-reuse-values", "--set", "settings.ignoreDRARequests=false", "--wait")
	kubetest.Within(t, 2*time.Minute, func() error { return r.allocated(5) })
	drivers := r.run("kubectl", "get", "nodeclaims", "-o", `jsonpath={.items[*].metadata.annotations.karpenter\.sh/requested-dra-drivers}`)
	for d := range strings.FieldsSeq(drivers) {
		if d != "gpu.example.com" {
			t.Errorf("nodes wait for the drivers %q", drivers)
		}
	}
	if drivers == "" {
		t.Error("no node waits for a driver")
	}

	r.apply(`
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: five, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 5}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: five, namespace: default, labels: {app: five}}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: five}]
  containers: [{name: a, image: a, resources: {claims: [{name: gpu}]}}]`)
	kubetest.Within(t, time.Minute, func() error { return r.told("five", "no instance type has the devices") })
	said, err := exec.CommandContext(t.Context(), theProgram(t), "explain", "pod", "five", "--kubeconfig", r.contact.Kubeconfig, "--controller", r.contact.Pages).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "wants 5 of class gpu.example.com; 4 of 4 devices are accepted") {
		t.Errorf("of the pod that wants five it is said (%v)\n%s", err, said)
	}
}

// told reports whether an event of ours about a pod of the app says so.
func (r reader) told(app, what string) error {
	events, err := r.c.CoreV1().Events("default").List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, e := range events.Items {
		if strings.HasPrefix(e.InvolvedObject.Name, app) && strings.Contains(e.Message, what) {
			return nil
		}
	}
	return fmt.Errorf("no event of %s says %q", app, what)
}

// allocated reports whether so many pods run, all of them with claims that have devices of their node.
func (r reader) allocated(want int) error {
	pods, err := r.c.CoreV1().Pods("default").List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	n := 0
	for _, p := range pods.Items {
		if p.Status.Phase != corev1.PodRunning || len(p.Status.ResourceClaimStatuses) != 1 {
			continue
		}
		c, err := r.c.ResourceV1().ResourceClaims("default").Get(r.Context(), *p.Status.ResourceClaimStatuses[0].ResourceClaimName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if a := c.Status.Allocation; a != nil && len(a.Devices.Results) > 0 && a.Devices.Results[0].Pool == p.Spec.NodeName {
			n++
		}
	}
	if n != want {
		return fmt.Errorf("%d of %d pods run with devices, want %d", n, len(pods.Items), want)
	}
	return nil
}
