package host

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/playground/process"
)

const (
	leastPause   = time.Second // before a process that has ended runs again; kubelets wait ten times as long
	mostPause    = 30 * time.Second
	tokenSeconds = 3600
)

// A pod is one that is bound to the host.
type pod struct {
	*corev1.Pod
	h    *Host
	ends chan time.Duration // sent once: the grace
	once sync.Once

	mu     sync.Mutex
	status state
	now    *Running // nil while no process runs
}

func newPod(h *Host, p *corev1.Pod) *pod {
	return &pod{Pod: p.DeepCopy(), h: h, ends: make(chan time.Duration, 1)}
}

// end asks the pod to end; only the first time counts.
func (p *pod) end(grace time.Duration) { p.once.Do(func() { p.ends <- grace }) }

// running is the pod's process, if one runs.
func (p *pod) running() (Running, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return Running{}, false
	}
	return *p.now, true
}

// runs notes that a process runs now, or none.
func (p *pod) runs(child *process.Process, ports map[int]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now = nil; child == nil {
		return
	}
	p.now = &Running{Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, Ports: map[string]int{}, process: child}
	for _, c := range p.Spec.Containers[0].Ports {
		p.now.Ports[c.Name] = ports[int(c.ContainerPort)]
	}
}

// live runs the pod until it is deleted or ctx ends. In the first case its object is gone, too.
func (p *pod) live(ctx context.Context) {
	if why := p.refuse(); why != "" {
		p.report(ctx, state{Waiting: "ErrImagePull", Message: why})
		select {
		case <-ctx.Done():
			return
		case <-p.ends:
		}
		p.forget(ctx)
		return
	}
	pause := leastPause
	s := state{Restarts: p.restarts()}
	for {
		began := p.h.o.Now()
		last, deleted := p.run(ctx, s)
		if deleted {
			p.forget(ctx)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if p.h.o.Now().Sub(began) > 10*mostPause {
			pause = leastPause
		}
		s = state{Restarts: s.Restarts + 1, Last: last, Waiting: "CrashLoopBackOff", Message: fmt.Sprintf("back-off %s restarting failed container", pause)}
		if last != nil && last.Reason == "CreateContainerConfigError" {
			s.Restarts--
			s.Waiting, s.Message, s.Last = last.Reason, last.Message, nil
		}
		p.report(ctx, s)
		select {
		case <-ctx.Done():
			return
		case <-p.ends:
			p.forget(ctx)
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, mostPause)
	}
}

// refuse says why the host does not run the pod.
func (p *pod) refuse() string {
	c := p.Spec.Containers
	repository, _, _ := strings.Cut(c[0].Image[strings.LastIndex(c[0].Image, "/")+1:], ":")
	repository, _, _ = strings.Cut(repository, "@")
	path := c[0].Image[:strings.LastIndex(c[0].Image, "/")+1] + repository
	switch {
	case path != p.h.o.Image && !strings.HasSuffix(path, "/"+p.h.o.Image):
		return fmt.Sprintf("this node runs the image %s alone, as a process; it cannot run %s", p.h.o.Image, c[0].Image)
	case len(c) > 1 || len(p.Spec.InitContainers) > 0:
		return "this node runs pods of one container alone"
	case len(c[0].Command) > 0:
		return "this node runs the program of the image alone, and the container names another command"
	}
	return ""
}

// restarts is how often the container has been started again by hosts before this one.
func (p *pod) restarts() int32 {
	for _, s := range p.Status.ContainerStatuses {
		if s.ContainerID != "" {
			return s.RestartCount + 1
		}
	}
	return 0
}

// run runs the process once. deleted tells that the pod is to go.
func (p *pod) run(ctx context.Context, s state) (last *corev1.ContainerStateTerminated, deleted bool) {
	failed := func(err error) (*corev1.ContainerStateTerminated, bool) {
		return &corev1.ContainerStateTerminated{Reason: "CreateContainerConfigError", Message: err.Error()}, false
	}
	ports, err := p.ports()
	if err != nil {
		return failed(err)
	}
	defer p.h.o.Ports.release(ports)
	cmd, out, err := p.command(ctx, ports, s.Restarts)
	if err != nil {
		return failed(err)
	}
	defer out.Close()
	child, err := process.Start(cmd)
	if err != nil {
		return failed(err)
	}
	p.runs(child, ports)
	defer p.runs(nil, nil)
	defer p.open(ports)()
	s.Waiting, s.Message, s.Started, s.ID = "", "", metav1.NewTime(p.h.o.Now()), strconv.Itoa(cmd.Process.Pid)
	s.Ready = p.Spec.Containers[0].ReadinessProbe == nil
	p.report(ctx, s)
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	unwell := make(chan string, 1)
	var probes sync.WaitGroup
	probes.Go(func() { p.probe(watching, ports, s, unwell) })
	ended := func(reason string) *corev1.ContainerStateTerminated {
		unwatch()
		probes.Wait()
		return terminated(cmd, reason, s, p.h.o.Now())
	}
	renew := time.NewTicker(tokenSeconds / 2 * time.Second)
	defer renew.Stop()
	for {
		select {
		case <-child.Done():
			return ended(""), false
		case why := <-unwell:
			p.h.o.Say("pod %s/%s is restarted: %s", p.Namespace, p.Name, why)
			child.Stop(p.grace())
			return ended("Error"), false
		case grace := <-p.ends:
			child.Stop(grace)
			ended("")
			return nil, true
		case <-ctx.Done():
			child.Stop(p.grace())
			unwatch()
			probes.Wait()
			return nil, false
		case <-renew.C:
			if err := p.token(ctx); err != nil {
				p.h.o.Say("the token of pod %s/%s: %v", p.Namespace, p.Name, err)
			}
		}
	}
}

// terminated is the state of a process that has ended, for a reason of its own if none is given.
func terminated(cmd *exec.Cmd, reason string, s state, now time.Time) *corev1.ContainerStateTerminated {
	code := cmd.ProcessState.ExitCode()
	if reason == "" && code != 0 {
		reason = "Error"
	} else if reason == "" {
		reason = "Completed"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: reason, StartedAt: s.Started, FinishedAt: metav1.NewTime(now), ContainerID: containerID(s.ID), //nolint:gosec // a status
	}
}

// grace is the time the pod may take to end; shorter than pods usually have, because people wait for it.
func (p *pod) grace() time.Duration {
	const most = 10 * time.Second
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
		return min(time.Duration(*s)*time.Second, most)
	}
	return most
}

// ports finds a port of this computer for each of the container's, never the very same: another pod, or another
// playground, may name it as well, and pods of a rollout run beside those whose place they take.
func (p *pod) ports() (map[int]int, error) {
	out := map[int]int{}
	for _, c := range p.Spec.Containers[0].Ports {
		got, err := p.h.o.Ports.take()
		if err != nil {
			p.h.o.Ports.release(out)
			return nil, err
		}
		out[int(c.ContainerPort)] = got
	}
	return out, nil
}

// webhook reports whether a port of this name is that of a webhook.
func webhook(name string) bool { return strings.HasSuffix(name, "webhook") }

// open has Services lead to the process. It returns what ends that. It is said when that cannot be.
func (p *pod) open(ports map[int]int) (shut func()) {
	own, err := url.Parse(p.h.o.APIServer)
	if err != nil || !p.h.Reachable() {
		return func() {}
	}
	var open []int
	for _, c := range p.Spec.Containers[0].Ports {
		if p.probes(c.Name) {
			continue
		}
		port := int(c.ContainerPort)
		kind, lost := requests(p.h.address, own.Host), "Services do not lead to the pods that listen there: give `tenon plan` the address of the pages with --controller"
		if webhook(c.Name) {
			kind, lost = connections(p.h.address), fmt.Sprintf("the webhook of pod %s/%s is not reached; its chart may name another port", p.Namespace, p.Name)
		}
		if err := p.h.o.Ports.open(p.h.address, port, ports[port], kind); err != nil {
			if p.h.o.Ports.complain(port) {
				p.h.o.Say("port %d of %s is another program's, perhaps another playground's, so %s", port, p.h.address, lost)
			}
			continue
		}
		open = append(open, port)
	}
	return func() {
		for _, port := range open {
			p.h.o.Ports.shut(port, ports[port])
		}
	}
}

// probes reports whether a port is there for the probes, which the host makes itself.
func (p *pod) probes(port string) bool {
	c := p.Spec.Containers[0]
	for _, r := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe} {
		if r != nil && r.HTTPGet != nil && r.HTTPGet.Port.String() == port {
			return true
		}
	}
	return false
}

// command is the process of the pod.
func (p *pod) command(ctx context.Context, ports map[int]int, run int32) (*exec.Cmd, *os.File, error) {
	dir, err := p.h.dir(p.UID)
	if err != nil {
		return nil, nil, err
	}
	env, err := environment(p.Pod, p.h.o.Node, map[string]string{
		"status.podIP": p.h.address, "status.podIPs": p.h.address, "status.hostIP": loopback, "status.hostIPs": loopback,
	}, p.look(ctx))
	if err != nil {
		return nil, nil, err
	}
	move(env, ports)
	volumes, err := mounts(p.Pod, dir, p.look(ctx))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range env {
		env[name] = outside(value, volumes)
	}
	if err := p.token(ctx); err != nil {
		return nil, nil, err
	}
	// Containers find the token at a path that processes cannot have; a kubeconfig beside it says the same.
	access := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(access, p.kubeconfig(dir), 0o600); err != nil {
		return nil, nil, err
	}
	out, err := os.OpenFile(p.log(run), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	args := []string{}
	for _, a := range p.Spec.Containers[0].Args {
		args = append(args, outside(expand(a, env), volumes))
	}
	cmd := exec.Command(p.h.o.Program, args...)
	cmd.Dir = dir
	cmd.Env = append(append([]string{"HOSTNAME=" + p.Name, "KUBECONFIG_PATH=" + access}, p.h.o.Environment...), list(env)...)
	both := &stamped{out: out, now: p.h.o.Now}
	cmd.Stdout, cmd.Stderr = both, both // of equal writers, one goroutine writes to both
	return cmd, out, nil
}

// log is the file of a run.
func (p *pod) log(run int32) string {
	return filepath.Join(p.h.o.Dir, string(p.UID), fmt.Sprintf("%d.log", run))
}

func (p *pod) look(ctx context.Context) lookup {
	core := p.h.o.Client.CoreV1()
	return func(kind, name string) (map[string]string, bool, error) {
		if kind == "configmap" {
			m, err := core.ConfigMaps(p.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, false, ignoreNotFound(err)
			}
			return m.Data, true, nil
		}
		s, err := core.Secrets(p.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, false, ignoreNotFound(err)
		}
		data := map[string]string{}
		for k, v := range s.Data {
			data[k] = string(v)
		}
		return data, true, nil
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// token writes a fresh token of the service account, bound to the pod.
func (p *pod) token(ctx context.Context) error {
	seconds := int64(tokenSeconds)
	t, err := p.h.o.Client.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &seconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token of service account %s: %w", p.Spec.ServiceAccountName, err)
	}
	dir, err := p.h.dir(p.UID)
	if err != nil {
		return err
	}
	half := filepath.Join(dir, "token.new")
	return errors.Join(os.WriteFile(half, []byte(t.Status.Token), 0o600), os.Rename(half, filepath.Join(dir, "token")))
}

func (p *pod) kubeconfig(dir string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: pod
contexts: [{name: pod, context: {cluster: pod, user: pod, namespace: %q}}]
clusters: [{name: pod, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: pod, user: {tokenFile: %q}}]
`, p.Namespace, p.h.o.APIServer, base64.StdEncoding.EncodeToString(p.h.o.CA), filepath.Join(dir, "token"))
}

// forget removes the object and what was kept of the pod.
func (p *pod) forget(ctx context.Context) {
	now := int64(0)
	err := p.h.o.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		p.h.o.Say("pod %s/%s has ended, and its object could not be removed: %v", p.Namespace, p.Name, err)
	}
	_ = os.RemoveAll(filepath.Join(p.h.o.Dir, string(p.UID)))
}
