package beside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// variable says whether, and against what, these tests run: "all" starts Moto's
// moto_server, which must be in the PATH; a URL is a server of Moto's that runs already.
const variable = "TENON_TEST_BESIDE"

// server is the server of this process' tests.
var server = sync.OnceValues(start)

// url is where the server answers; a test that was not asked for is skipped.
func url(t *testing.T) string {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skipf("set %s=all to run against moto_server, or to the URL of one that runs", variable)
	}
	s, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return s.url
}

type process struct {
	url string
	cmd *exec.Cmd // nil: it is not ours
}

// TestMain ends the server when the tests are over.
func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(variable) != "" {
		if s, err := server(); err == nil && s.cmd != nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	}
	os.Exit(code)
}

func start() (*process, error) {
	if at := os.Getenv(variable); strings.HasPrefix(at, "http") {
		return &process{url: at}, nil
	}
	program, err := exec.LookPath("moto_server")
	if err != nil {
		return nil, fmt.Errorf("find moto_server: %w; install Moto for Python with its server (moto[server]), or name a server that runs by %s", err, variable)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(free.Addr().String())
	if err := free.Close(); err != nil {
		return nil, err
	}
	p := &process{url: "http://" + free.Addr().String(), cmd: exec.Command(program, "-H", host, "-p", port)} //nolint:gosec // it is asked for
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start moto_server: %w", err)
	}
	return p, p.await()
}

// await waits until the server answers.
func (p *process) await() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/moto-api/reset", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			return answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("moto_server does not answer"), err)
		case <-again.C:
		}
	}
}
