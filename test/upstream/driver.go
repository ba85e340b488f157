package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	allocating = "dra" // the suite whose nodes have devices
	module     = "sigs.k8s.io/karpenter"
	// extraTypes are the types of upstream's own provider that the suite names, as machines like them are sold here.
	extraTypes = "c-4x-amd64-linux=c5.xlarge,m-8x-amd64-linux=m5.2xlarge"
)

// A driver is upstream's own driver of devices, which publishes what the suite's DRAConfigs say.
type driver struct {
	cmd  *exec.Cmd
	end  context.CancelFunc
	done chan struct{}
}

// start makes the driver's kind, compiles the driver from the module cache, and runs it against a cluster.
func (d *driver) start(ctx context.Context, g *ground) error {
	found, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find the module %s: %w", module, err)
	}
	crds := filepath.Join(strings.TrimSpace(string(found)), "dra-kwok-driver/pkg/apis/crds/test.karpenter.sh_draconfigs.yaml")
	if err := g.tool(ctx, "kubectl", "apply", "-f", crds); err != nil {
		return err
	}
	program := filepath.Join(g.dir, "dra-kwok-driver")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, module+"/dra-kwok-driver").CombinedOutput(); err != nil {
		return fmt.Errorf("compile the driver of devices: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(g.dir, "dra-kwok-driver.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	d.cmd = exec.Command(program)
	d.cmd.Env = append(os.Environ(), "KUBECONFIG="+g.kubeconfig())
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		d.cmd = nil
		return err
	}
	ctx, d.end = context.WithCancel(ctx)
	d.done = make(chan struct{})
	go func() {
		defer close(d.done)
		g.release(ctx)
	}()
	return nil
}

// release deletes the pools as soon as a node class is being deleted, until ctx ends. The suite deletes classes first, waits until they have gone, and
// deletes pools after that: upstream's test class goes at once, and one that nodes are of does not. What specs ask has been answered by then.
func (g *ground) release(ctx context.Context) {
	const often = 2 * time.Second
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		look := exec.CommandContext(ctx, filepath.Join(top, "bin/kubectl"), "--kubeconfig", g.kubeconfig(), "get", "ec2nodeclasses", "-o", "jsonpath={.items[*].metadata.deletionTimestamp}")
		if out, err := look.Output(); err != nil || len(out) == 0 {
			continue // there may be no such kind yet
		}
		_ = g.tool(ctx, "kubectl", "delete", "nodepools", "--all", "--wait=false") // it is tried again
	}
}

// stop ends the driver, if it runs.
func (d *driver) stop() {
	if d.cmd == nil {
		return
	}
	d.end()
	<-d.done
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = d.cmd.Process.Kill() // it has ended, or will
	}
	_ = d.cmd.Wait() // how it ends says nothing of a spec
	d.cmd = nil
}
