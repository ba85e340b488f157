package playground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/playground/process"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// readyWithin is how long the controller may take until it says that it is ready.
const readyWithin = time.Minute

// A controller is `tenon controller` as a child, started again when it ends.
type controller struct {
	health  atomic.Value // the address of its probes, as a string
	metrics atomic.Value // and of its pages
	now     atomic.Pointer[process.Process]
	done    chan struct{}
}

// runController runs program against the cluster and the account until ctx ends, and returns when it is ready. It
// sees nothing of the user's clusters and clouds.
func runController(ctx context.Context, o Options, aws *cloud, log *life) (*controller, error) {
	program, err := o.program()
	if err != nil {
		return nil, err
	}
	out, err := o.Dir.openLog("controller")
	if err != nil {
		return nil, err
	}
	began, err := out.Seek(0, 2)
	if err != nil {
		return nil, err
	}
	c := &controller{done: make(chan struct{})}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(c.done)
		defer out.Close()
		process.Keeper{Program: func() (*exec.Cmd, error) {
			ports, err := freePorts(2)
			if err != nil {
				return nil, err
			}
			c.health.Store(net.JoinHostPort("127.0.0.1", ports[1]))
			c.metrics.Store(net.JoinHostPort("127.0.0.1", ports[0]))
			args := append([]string{
				"controller", "--kubeconfig", o.Dir.Kubeconfig(), "--cluster-name", o.ClusterName, "--interruption-queue", o.ClusterName,
				"--leader-election-namespace", "kube-system", "--metrics-port", ports[0], "--health-probe-port", ports[1], "--live-page",
				"--default-instance-profile", "KarpenterNodeInstanceProfile-" + o.ClusterName,
			}, o.ControllerFlags...)
			cmd := exec.Command(program, args...)
			cmd.Env = append(o.toController(), aws.environment(o.Region, awsapi.ControllerKey)...)
			cmd.Stdout, cmd.Stderr = out, out
			return cmd, nil
		}, Started: c.now.Store, Ended: func(err error, pause time.Duration) {
			log.say("the controller has ended (%v) and starts again in %s; %s says more", orZero(err), pause, o.Dir.Log("controller"))
		}}.Keep(ctx)
	}()
	if err := c.await(ctx, log); err != nil {
		stop()
		<-c.done
		return nil, fmt.Errorf("%w\n%s", err, tail(o.Dir.Log("controller"), began))
	}
	context.AfterFunc(ctx, stop)
	return c, nil
}

// await returns when the controller says that it is ready.
func (c *controller) await(ctx context.Context, log *life) error {
	log.say("starting the controller")
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if c.ready(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("the controller was not ready after %s", readyWithin)
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (c *controller) ready(ctx context.Context) bool {
	at, ok := c.health.Load().(string)
	if !ok {
		return false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// kill ends the present run. The next one follows by itself.
func (c *controller) kill(context.Context) (string, error) {
	p := c.now.Load()
	if p == nil {
		return "", errors.New("the controller does not run")
	}
	return "the controller", p.Kill()
}

func (c *controller) pages(context.Context) (string, error) {
	at, ok := c.metrics.Load().(string)
	if !ok {
		return "", errors.New("the controller does not run")
	}
	return at, nil
}

// toController is the environment of a controller, which is for this computer alone. What bounds the memory of the
// playground's own processes is not for it: on a node it would not hear of that, and it collects its garbage as it sees fit.
func (o Options) toController() []string {
	env := slices.DeleteFunc(kube.Environment(o.Dir.cluster()), func(e string) bool {
		return strings.HasPrefix(e, "GOGC=") || strings.HasPrefix(e, "GOMEMLIMIT=")
	})
	return append(env, "BIND_ADDRESS=127.0.0.1")
}

// program is the tenon that is to run: the one of the options, or the one beside this program.
func (o Options) program() (string, error) {
	if o.Tenon != "" {
		return filepath.Abs(o.Tenon)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(self), "tenon")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("%w; it is the program the playground runs: in a clone, `make build` makes both; --tenon names another, --bare does without", err)
	}
	return program, nil
}

// freePorts returns ports of the loopback interface that are free at this moment.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // none is given twice
		out = append(out, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return out, nil
}

// tail is the last of what a log has got since began.
func tail(file string, began int64) string {
	const size = 2000
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	data = data[min(began, int64(len(data))):]
	return string(bytes.TrimSpace(data[max(0, len(data)-size):]))
}

// orZero says how a program ended that ended well.
func orZero(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
