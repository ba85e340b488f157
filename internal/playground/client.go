package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// A Client talks to the playground that runs in a directory.
type Client struct {
	dir Dir
	Contact
}

var errNotRunning = errors.New("no playground runs there")

// Dial returns a client of the playground in dir.
func Dial(dir Dir) (*Client, error) {
	if !dir.inUse() {
		return nil, fmt.Errorf("%s: %w; start one with `tenon up --dir %s`", dir, errNotRunning, dir)
	}
	data, err := os.ReadFile(dir.contact())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the playground in %s is still starting", dir)
	} else if err != nil {
		return nil, err
	}
	c := &Client{dir: dir}
	if err := json.Unmarshal(data, &c.Contact); err != nil {
		return nil, fmt.Errorf("%s: %w", dir.contact(), err)
	}
	return c, nil
}

// Machines lists the machines.
func (c *Client) Machines(ctx context.Context) ([]kubelet.Status, error) {
	var out []kubelet.Status
	return out, c.call(ctx, http.MethodGet, "/machines", nil, &out)
}

// Add starts machines.
func (c *Client) Add(ctx context.Context, r MachineRequest) ([]kubelet.Status, error) {
	var out []kubelet.Status
	return out, c.call(ctx, http.MethodPost, "/machines", r, &out)
}

// Do has something happen to a machine: kill, lose-network or recover. The machine goes by its ID or its node.
func (c *Client) Do(ctx context.Context, what, machine string) error {
	return c.call(ctx, http.MethodPost, "/machines/"+url.PathEscape(machine)+"/"+what, nil, nil)
}

// KillController ends the controller as a crash would, and says what was killed.
func (c *Client) KillController(ctx context.Context) (string, error) {
	var out killed
	err := c.call(ctx, http.MethodPost, "/controller/kill", nil, &out)
	return out.Killed, err
}

// Stop ends the playground of dir and waits until it is gone. It reports false when none was running.
func Stop(ctx context.Context, dir Dir) (bool, error) {
	if !dir.inUse() {
		return false, nil
	}
	pid := dir.owner()
	if c, err := Dial(dir); err != nil || c.call(ctx, http.MethodPost, "/stop", nil, nil) != nil {
		// It is starting, or does not listen; a signal reaches it all the same.
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return true, fmt.Errorf("stop the playground in %s, process %d: %w", dir, pid, err)
		}
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for dir.inUse() {
		select {
		case <-ctx.Done():
			return true, fmt.Errorf("the playground in %s, process %d, is still stopping: %w", dir, pid, ctx.Err())
		case <-tick.C:
		}
	}
	return true, nil
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask the playground in %s: %w", c.dir, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		var p problem
		if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
			p.Error = res.Status
		}
		return errors.New(p.Error)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
