package playground_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/charts"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/playground"
)

// A reader follows instructions in a shell of a playground.
type reader struct {
	*testing.T
	dir     string
	c       kubernetes.Interface
	contact playground.Contact
}

// read starts a playground for somebody who follows instructions.
func read(t *testing.T, flags ...string) reader {
	t.Helper()
	needBinary(t)
	dir := filepath.Join(t.TempDir(), "a")
	t.Cleanup(func() { _, _ = playground.Stop(context.Background(), playground.Dir(dir)) })
	must(t, append([]string{"up", "--dir", dir, "--detach", "--no-demo", "--tenon", theProgram(t), "--boot", "100ms", "--ready", "100ms"}, flags...)...)
	return reader{T: t, dir: dir, c: client(t, dir), contact: contact(t, dir)}
}

// try runs kubectl or helm with input.
func (r reader) try(input, program string, args ...string) (string, error) {
	r.Helper()
	binary, err := kube.Find()
	if err != nil {
		r.Fatal(err)
	}
	cmd := exec.CommandContext(r.Context(), binary)
	cmd.Args = append([]string{program}, args...) // the binary is known by its name
	cmd.Env = append(kube.Environment(r.dir), "KUBECONFIG="+r.contact.Kubeconfig)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r reader) run(program string, args ...string) string {
	r.Helper()
	out, err := r.try("", program, args...)
	if err != nil {
		r.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

func (r reader) apply(text string) {
	r.Helper()
	if out, err := r.try(text, "kubectl", "apply", "-f", "-"); err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
}

// controllers waits until so many pods of the release are ready, after so many restarts, and there are no others.
func (r reader) controllers(want int, restarts int32) []corev1.Pod {
	r.Helper()
	var pods []corev1.Pod
	kubetest.Within(r.T, time.Minute, func() error {
		l, err := r.c.CoreV1().Pods("karpenter").List(r.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter"})
		if err != nil {
			return err
		}
		pods = l.Items
		ready, again := 0, int32(0)
		for _, p := range pods {
			if len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready && p.DeletionTimestamp == nil {
				ready++
				again += p.Status.ContainerStatuses[0].RestartCount
			}
		}
		if ready != want || len(pods) != want || again != restarts {
			return fmt.Errorf("%d of %d pods are ready after %d restarts, want %d after %d", ready, len(pods), again, want, restarts)
		}
		return nil
	})
	return pods
}

// holder is the replica that leads.
func (r reader) holder() string {
	l, err := r.c.CoordinationV1().Leases("karpenter").Get(r.Context(), "karpenter-leader-election", metav1.GetOptions{})
	if err != nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// ownPorts are ports for the webhook and the metrics that no other playground on this computer has.
func ownPorts(t *testing.T) string {
	t.Helper()
	var free [2]int
	for i := range free {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		free[i] = l.Addr().(*net.TCPAddr).Port
	}
	return fmt.Sprintf("webhook.port=%d,controller.metrics.port=%d", free[0], free[1])
}

const provisioner = `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: %s}, spec: {providerRef: {name: default}, ttlSecondsAfterEmpty: 30, %s}}`

// A release from its first day to its last, by the commands that guides give: every part of it is real but the container.
// The whole life is lived when TENON_TEST_CHART is all; without, the days that need no node and no waiting.
func TestARelease(t *testing.T) {
	t.Parallel() // it waits more than it computes, and each playground is a world of its own
	r := read(t, "--controller", "none", "--host", "m5.large")
	oci := []string{"oci://" + r.contact.Charts + "/karpenter/karpenter", "--plain-http"}
	install := append([]string{
		"upgrade", "--install", "karpenter", "--namespace", "karpenter", "--create-namespace", "--wait", "--timeout", "2m",
		"--version", "v0.22.1", "--set", ownPorts(t), "--set", "settings.aws.clusterName=playground,settings.aws.defaultInstanceProfile=KarpenterNodeInstanceProfile-playground,settings.aws.interruptionQueueName=playground",
	}, oci...)
	r.run("helm", install...)
	r.controllers(2, 0)

	whole := os.Getenv("TENON_TEST_CHART") == "all"
	r.webhook()
	// Pods of a rollout run beside those whose place they take, and their webhooks are reached all the same.
	r.run("kubectl", "rollout", "restart", "deployment", "karpenter", "-n", "karpenter")
	r.run("kubectl", "rollout", "status", "deployment", "karpenter", "-n", "karpenter", "--timeout=1m")
	r.controllers(2, 0)
	r.run("kubectl", "delete", "provisioner", "default")
	r.heard()
	r.asked()
	if whole {
		r.handOver()
	}

	// The same release, from a classic repository and under another version, with settings as its guide has them.
	r.run("helm", "repo", "add", "karpenter", "http://"+r.contact.Charts+"/")
	before := r.controllers(2, 0)
	r.run("helm", "upgrade", "--install", "--namespace", "karpenter", "--create-namespace", "karpenter", "karpenter/karpenter", "--version", "v0.6.3",
		"--set", ownPorts(t), "--set", "clusterName=playground,aws.defaultInstanceProfile=KarpenterNodeInstanceProfile-playground,logLevel=debug", "--wait", "--timeout", "2m")
	after := r.controllers(2, 0)
	if slices.ContainsFunc(after, func(p corev1.Pod) bool { return p.UID == before[0].UID || p.UID == before[1].UID }) {
		t.Error("a change of settings has left a pod as it was")
	}
	if log := r.run("kubectl", "logs", "-n", "karpenter", "-l", "app.kubernetes.io/name=karpenter", "-c", "controller", "--tail=-1"); !strings.Contains(log, "\tINFO\t") || !strings.Contains(log, "\tDEBUG\t") {
		t.Errorf("the log of both pods is\n%.1000s", log)
	}
	r.run("helm", "rollback", "karpenter", "--namespace", "karpenter", "--wait", "--timeout", "2m")
	r.controllers(2, 0)

	if whole {
		r.uninstalledWithNodes(install)
	}
}

// webhook has the API server ask the controller by way of its Service, and do without it.
func (r reader) webhook() {
	r.Helper()
	r.heard()
	out, err := r.try(fmt.Sprintf(provisioner, "wrong", `labels: {"a b": c}`), "kubectl", "apply", "-f", "-")
	if err == nil || !strings.Contains(out, "a b") {
		r.Errorf("a label that cannot be is answered with %v: %s", err, out)
	}
	r.run("kubectl", "scale", "deployment", "karpenter", "-n", "karpenter", "--replicas=0")
	r.controllers(0, 0)
	began := time.Now()
	r.apply(fmt.Sprintf(provisioner, "unheard", "limits: {resources: {cpu: 2000}}"))
	if took := time.Since(began); took > 30*time.Second {
		r.Errorf("without a webhook writing took %s", took)
	}
	r.run("kubectl", "delete", "provisioner", "unheard")
	r.run("kubectl", "scale", "deployment", "karpenter", "-n", "karpenter", "--replicas=2")
	r.controllers(2, 0)
}

// heard waits until the API server asks the webhook, which writes amounts as Kubernetes does.
func (r reader) heard() {
	r.Helper()
	kubetest.Within(r.T, 30*time.Second, func() error { // until the authority is written
		r.apply(fmt.Sprintf(provisioner, "default", "limits: {resources: {cpu: 2000}}"))
		if got := r.run("kubectl", "get", "provisioner", "default", "-o", "jsonpath={.spec.limits.resources.cpu}"); got != "2k" {
			r.run("kubectl", "delete", "provisioner", "default")
			return fmt.Errorf("2000 reads back as %q, want 2k", got)
		}
		return nil
	})
}

// asked has `tenon plan` ask the controller by way of the API server and its Service, whichever replica leads.
func (r reader) asked() {
	r.Helper()
	kubetest.Within(r.T, time.Minute, func() error {
		cmd := exec.CommandContext(r.Context(), theProgram(r.T), "plan")
		cmd.Env = append(kube.Environment(r.dir), "KUBECONFIG="+r.contact.Kubeconfig)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Decided as the controller karpenter/karpenter would now") {
			return fmt.Errorf("tenon plan (%v):\n%s", err, out)
		}
		return nil
	})
}

// handOver takes away the leader: the other replica leads, and the Deployment makes a new one.
func (r reader) handOver() {
	r.Helper()
	first, pod := "", ""
	kubetest.Within(r.T, time.Minute, func() error {
		first = r.holder()
		for _, p := range r.controllers(2, 0) {
			if strings.Contains(r.run("kubectl", "logs", "-n", "karpenter", p.Name), "Successfully acquired lease") {
				pod = p.Name
			}
		}
		if first == "" || pod == "" || r.decisions() != http.StatusOK {
			return fmt.Errorf("%q of pod %q leads, and its page is %d", first, pod, r.decisions())
		}
		return nil
	})
	began := time.Now()
	r.run("kubectl", "delete", "pod", "-n", "karpenter", pod)
	kubetest.Within(r.T, 30*time.Second, func() error {
		if now := r.holder(); now == first || now == "" || r.decisions() != http.StatusOK {
			return fmt.Errorf("%q leads, %q did", now, first)
		}
		return nil
	})
	if took := time.Since(began); took > 14*time.Second {
		r.Errorf("the other led after %s only, as if the first had not let go", took)
	}
	r.controllers(2, 0)
}

// decisions is the status of the leader's page.
func (r reader) decisions() int {
	res, err := http.Get(r.contact.Pages + "decisions/")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// dashboards ask for series that a controller writes that has bought a node.
func (r reader) dashboards() {
	r.Helper()
	// What has not happened is counted from the first time on.
	later := map[string]bool{
		"karpenter_nodeclaims_terminated_total": true, "karpenter_nodeclaims_disrupted_total": true, "karpenter_nodeclaims_termination_duration_seconds_bucket": true,
		"karpenter_nodes_drained_total": true, "karpenter_cloudprovider_errors_total": true, "karpenter_interruption_received_messages_total": true,
		"karpenter_pods_eviction_requests_total": true, "karpenter_pods_disruption_initiated_total": true, "karpenter_voluntary_disruption_decisions_total": true,
		"karpenter_consolidation_moves_total": true, "tenon_consolidation_hourly_savings": true, "tenon_consolidation_hourly_bound": true,
	}
	asked := map[string]bool{}
	for _, file := range []string{"karpenter/dashboards/overview.json", "karpenter/alerts.yaml"} {
		text, err := fs.ReadFile(charts.Files(), file)
		if err != nil {
			r.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:karpenter|tenon)_[a-z_]+\b`).FindAllString(string(text), -1) {
			asked[name] = true
		}
	}
	res, err := http.Get(r.contact.Pages + "metrics")
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.Fatal(err)
	}
	for name := range asked {
		if !later[name] && !regexp.MustCompile(`(?m)^`+name+`[{ ]`).Match(text) {
			r.Errorf("after a node was bought /metrics has no %s", name)
		}
	}
}

// uninstalledWithNodes leaves nodes behind: they stay with their pods, and the next controller finishes what is asked for meanwhile.
func (r reader) uninstalledWithNodes(install []string) {
	r.Helper()
	r.apply(`{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: default}, spec: {subnetSelector: {karpenter.sh/discovery: playground}, securityGroupSelector: {karpenter.sh/discovery: playground}}}`)
	r.apply(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: inflate}, spec: {replicas: 2, selector: {matchLabels: {app: inflate}}, template: {metadata: {labels: {app: inflate}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: inflate, image: pause, resources: {requests: {cpu: 1}}}]}}}}`)
	r.run("kubectl", "rollout", "status", "deployment", "inflate", "--timeout=1m")
	r.dashboards()
	r.run("helm", "uninstall", "karpenter", "--namespace", "karpenter", "--wait")
	r.controllers(0, 0)
	if left := r.run("kubectl", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,deployments,secrets", "-A", "-l", "app.kubernetes.io/instance=karpenter", "-o", "name"); left != "" {
		r.Errorf("the release leaves\n%s", left)
	}
	nodes := strings.Fields(r.run("kubectl", "get", "nodes", "-l", "karpenter.sh/provisioner-name=default", "-o", "name"))
	if len(nodes) == 0 {
		r.Fatal("the nodes have gone with the release")
	}
	r.run("kubectl", "delete", "deployment", "inflate")
	r.run("kubectl", append([]string{"delete", "--wait=false"}, nodes...)...) // it waits for a controller
	r.run("helm", install...)
	kubetest.Within(r.T, time.Minute, func() error {
		left, err := r.c.CoreV1().Nodes().List(r.Context(), metav1.ListOptions{LabelSelector: "karpenter.sh/provisioner-name"})
		if err != nil || len(left.Items) > 0 {
			return fmt.Errorf("the next controller has left %d nodes (%w)", len(left.Items), err)
		}
		return nil
	})
}

// Where there is room for one replica alone, helm does not wait for two; `tenon up` installs by the chart, and what is
// changed by hand is kept; processes end with the playground.
func TestUpInstallsTheChart(t *testing.T) {
	t.Parallel() // it waits more than it computes, and each playground is a world of its own
	r := read(t)
	pods := r.controllers(2, 0)
	for _, p := range pods {
		if p.Spec.ServiceAccountName != "karpenter" || p.Spec.NodeName != "playground" {
			t.Errorf("pod %s runs as %s on %s", p.Name, p.Spec.ServiceAccountName, p.Spec.NodeName)
		}
	}
	r.run("helm", "upgrade", "karpenter", "../../charts/karpenter", "--namespace", "karpenter", "--reuse-values", "--wait", "--timeout", "1m",
		"--set", "controller.resources.requests.cpu=1,controller.resources.requests.memory=1Gi")
	pods = r.controllers(1, 0)
	must(t, "down", "--dir", r.dir)
	if err := syscall.Kill(process(t, pods[0]), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process of pod %s has outlived the playground (%v)", pods[0].Name, err)
	}
	must(t, "up", "--dir", r.dir, "--detach", "--no-demo", "--tenon", theProgram(t))
	pods = r.controllers(1, 1)
	if cpu := pods[0].Spec.Containers[0].Resources.Requests.Cpu().String(); cpu != "1" {
		t.Errorf("after a restart the controller asks for %s cpu, want what was chosen by hand", cpu)
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "log", "playground.log"))
	if err != nil || !bytes.Contains(log, []byte("helm installs the controller")) {
		t.Errorf("the life log does not say who installs the controller: %v\n%s", err, log)
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
