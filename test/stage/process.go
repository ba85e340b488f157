package stage

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Build makes the program in a directory and returns its path.
func Build(t testing.TB, dir string) string {
	t.Helper()
	program := filepath.Join(dir, "tenon")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/tenon-sh/tenon/cmd/tenon")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build tenon: %v\n%s", err, out)
	}
	return program
}

// Kubeconfig is a file that leads to an API server at a URL; empty: to that of the package's tests.
func Kubeconfig(t testing.TB, url string) string {
	t.Helper()
	if url == "" {
		return kubetest.Kubeconfig(t)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	c := api.NewConfig()
	c.Clusters["way"], c.AuthInfos["me"] = &api.Cluster{Server: url}, &api.AuthInfo{}
	c.Contexts["way"], c.CurrentContext = &api.Context{Cluster: "way", AuthInfo: "me"}, "way"
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Process is a controller that runs by itself.
type Process struct {
	Log   string // where its log is
	cmd   *exec.Cmd
	ended chan struct{}
	once  sync.Once
}

// Start runs `tenon controller` until the test ends, with a kubeconfig and the flags on top of the stage's own.
func (s *Stage) Start(t testing.TB, program, kubeconfig string, flags ...string) *Process {
	t.Helper()
	p, err := s.Spawn(t.TempDir(), program, kubeconfig, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.ended
		if t.Failed() {
			if text, err := os.ReadFile(p.Log); err == nil {
				t.Logf("the controller's log ends with:\n%s", text[max(0, len(text)-32<<10):])
			}
		}
	})
	return p
}

// Spawn is Start for callers that end the process themselves. Its log is in a directory.
func (s *Stage) Spawn(dir, program, kubeconfig string, flags ...string) (*Process, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	args := []string{"controller", "--kubeconfig", kubeconfig, "--cluster-name", s.Name, "--metrics-port", "0", "--health-probe-port", "0", "--log-level", "debug"}
	if s.Queue != "" {
		args = append(args, "--interruption-queue", s.Queue)
	}
	p := &Process{Log: log.Name(), cmd: exec.Command(program, append(args, flags...)...), ended: make(chan struct{})}
	for k, v := range env(dir, s.Cloud) {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		_ = p.cmd.Wait()
		_ = log.Close()
		close(p.ended)
	}()
	return p, nil
}

// Kill ends the process as a power failure would.
func (p *Process) Kill() { p.once.Do(func() { _ = p.cmd.Process.Kill() }) }

// Stop asks the process to end, as the kubelet does with pods.
func (p *Process) Stop() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Pause stops the process as starvation or a sleeping computer would, and Wake lets it go on.
func (p *Process) Pause() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

// Wake lets a paused process go on.
func (p *Process) Wake() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }
