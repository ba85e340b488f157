package kube

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 20 * time.Second
)

// Options say which control plane to run. Binary, Dir and Log are required.
type Options struct {
	Binary      string        // see Find
	Dir         string        // everything it keeps; a later run in the same directory goes on from there
	Log         *os.File      // for what its parts say; may be closed after Start
	Port        int           // of the API server; 0: the one of the last run in Dir, or any that is free
	Grace       time.Duration // how long a node may be silent before it is NotReady; 0: five minutes
	Scheduler   bool          // run kube-scheduler
	Controllers bool          // run kube-controller-manager
	Machines    bool          // play the kubelets of nodes annotated for kwok
	Ephemeral   bool          // remove Dir at the end, also when this process is killed
	Args        []string      // further arguments of `controlplane up`
}

// A ControlPlane is a running child.
type ControlPlane struct {
	URL        string // of the API server
	Kubeconfig string // of an administrator
	PID        int

	leash io.Closer // the standard input of the child, which stops when that ends
	cmd   *exec.Cmd
	done  chan struct{}
	err   error // why it ended, once done is closed
	stop  sync.Once
}

// Start runs a control plane and returns when it is ready. It never outlives this process: its standard input is a
// pipe that the kernel closes with us, and that is its sign to stop.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the control plane: %w", err)
	}
	if err := Room(o.Dir); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.Binary, o.arguments()...)
	cmd.Env = Environment(o.Dir)
	cmd.SysProcAttr = ownGroup() // a Ctrl-C at the terminal is for this process, which stops it in order
	cmd.Stderr = o.Log           // the file itself: nothing passes through this process
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Binary, err)
	}
	c := &ControlPlane{cmd: cmd, PID: cmd.Process.Pid, leash: stdin, done: make(chan struct{})}
	ready := make(chan []byte, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadBytes('\n')
		ready <- line
		_, _ = io.Copy(io.Discard, stdout)
		c.err = cmd.Wait()
		close(c.done)
	}()
	select {
	case line := <-ready:
		var r struct{ URL, Kubeconfig string }
		if err := json.Unmarshal(line, &r); err != nil {
			c.Stop()
			return nil, fmt.Errorf("the control plane in %s did not start: %w\n%s", o.Dir, errors.Join(Room(o.Dir), c.err), end(o.Log))
		}
		c.URL, c.Kubeconfig = r.URL, r.Kubeconfig
		return c, nil
	case <-ctx.Done():
		c.Stop()
		return nil, ctx.Err()
	case <-time.After(startTimeout):
		c.Stop()
		return nil, fmt.Errorf("the control plane in %s was not ready after %s\n%s", o.Dir, startTimeout, end(o.Log))
	}
}

func (o Options) arguments() []string {
	a := []string{
		"up", "-while-stdin", "-dir", o.Dir, "-port", strconv.Itoa(o.Port),
		"-scheduler=" + strconv.FormatBool(o.Scheduler),
		"-controllers=" + strconv.FormatBool(o.Controllers),
		"-machines=" + strconv.FormatBool(o.Machines),
	}
	if o.Grace != 0 {
		a = append(a, "-grace", o.Grace.String())
	}
	if o.Ephemeral {
		a = append(a, "-remove")
	}
	return append(a, o.Args...)
}

// Environment is what a child of a playground gets to see: enough to run, and nothing of the user's clusters and
// clouds. Its home is dir, so that no file of the user's is found by way of that either.
func Environment(dir string) []string {
	env := []string{"HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig")}
	for _, name := range []string{"PATH", "TMPDIR", "LANG", "LC_ALL", "TZ", "GOMAXPROCS", "GOMEMLIMIT", "GOGC", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Done is closed when the control plane has ended, for whatever reason.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err says how the control plane ended, after Done.
func (c *ControlPlane) Err() error {
	if c.err == nil {
		return errors.New("exit status 0")
	}
	return c.err
}

// Kill ends the control plane as a power failure would. What it kept stays in its directory.
func (c *ControlPlane) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// Stop ends the control plane and waits until it is gone.
func (c *ControlPlane) Stop() {
	c.stop.Do(func() { _ = c.leash.Close() })
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// end is the last of what the parts have said, for the error of a child that died young.
func end(log *os.File) string {
	const size = 2000
	f, err := os.Open(log.Name())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > size {
		_, _ = f.Seek(-size, io.SeekEnd)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
