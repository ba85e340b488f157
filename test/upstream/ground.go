package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"
)

const (
	top       = "../.." // of the repository
	cluster   = "upstream"
	namespace = "kube-system" // where the suites look for the controller
	measured  = "performance" // the suite that reads the controller's metrics at their usual port
)

var (
	//go:embed class.yaml
	class []byte
	//go:embed pool.yaml
	pool []byte
	//go:embed pool-small.yaml
	small []byte
	//go:embed pool-dra.yaml
	dra []byte
)

// gates are what the specs of the suites need turned on.
func gates() []string {
	return []string{"staticCapacity", "capacityBuffer", "nodeOverlay", "nodeRepair"}
}

// A ground is a playground that specs are run on, one after the other.
type ground struct {
	dir     string
	without bool
	stands  string // the suite that it stands for; empty: there is none
	driver  driver // of devices, where the suite has any
}

// up makes a playground with an empty cluster for a suite, unless one stands.
func (g *ground) up(ctx context.Context, suite string) error {
	if g.stands == suite {
		return nil
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"class.yaml": class, "pool.yaml": pool, "pool-small.yaml": small, "pool-dra.yaml": dra} {
		if err := os.WriteFile(filepath.Join(g.dir, name), text, 0o644); err != nil {
			return err
		}
	}
	g.down()
	if suite == measured {
		if err := free("8080"); err != nil {
			return err
		}
	}
	g.stands = suite
	up := []string{
		"up", "--dir", g.home(), "--reset", "--detach", "--controller=none", "--no-demo", "--cluster-name", cluster, "--boot", "1s", "--ready", "1s", "--devices", "1s",
	}
	if suite == allocating {
		up = append(up, "--extra-types", extraTypes)
	}
	if err := g.tool(ctx, "tenon", up...); err != nil {
		return err
	}
	if suite == allocating {
		if err := g.driver.start(ctx, g); err != nil {
			return err
		}
	}
	return g.install(ctx, suite)
}

// install installs the kinds and, unless specs run without it, the controller.
func (g *ground) install(ctx context.Context, suite string) error {
	if err := g.tool(ctx, "helm", "install", "karpenter-crd", filepath.Join(top, "charts/karpenter-crd"), "-n", namespace); err != nil {
		return err
	}
	if err := g.tool(ctx, "kubectl", "wait", "--for=condition=Established", "crd", "--all"); err != nil || g.without { // the suites ask for all kinds at once
		return err
	}
	install := []string{
		"install", "karpenter", filepath.Join(top, "charts/karpenter"), "-n", namespace, "--skip-crds", "--wait",
		"--set", "settings.clusterName=" + cluster, "--set", "replicas=1", "--set", "settings.preferencePolicy=Ignore",
	}
	if suite != measured {
		install = append(install, "--set", "controller.metrics.port=18080") // pods are processes here, and some specs listen at 8080 themselves
	}
	for _, gate := range gates() {
		install = append(install, "--set", "settings.featureGates."+gate+"=true")
	}
	if err := g.tool(ctx, "helm", install...); err != nil || suite != measured {
		return err
	}
	return g.metered(ctx)
}

// metered says that the controller's metrics cannot be read as the suite reads them: it would go without them, and find
// every bound on memory and CPU kept.
func (g *ground) metered(ctx context.Context) error {
	const service = "/api/v1/namespaces/" + namespace + "/services/karpenter:http-metrics/proxy/metrics"
	if err := g.tool(ctx, "kubectl", "get", "--raw", service); err != nil {
		return fmt.Errorf("the suite reads the controller's metrics through the API server, which reaches no pod of this computer: %w; "+advice, err)
	}
	return nil
}

// advice is where the suite that is measured can run.
const advice = "run it in a network of its own, with an address that is not the loopback interface's: unshare -rn sh -c 'ip link set lo up && ip addr add 192.0.2.1/32 dev lo && go run . …'"

// free says that a port of this computer is taken, as by another playground: a suite that reads the controller's metrics
// there would go without them, and find every bound on them kept.
func free(port string) error {
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return fmt.Errorf("the suite reads the controller's metrics at port %s: %w; "+advice, port, err)
	}
	return l.Close()
}

// down ends the playground, whatever it is doing.
func (g *ground) down() {
	g.stands = ""
	g.driver.stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = g.tool(ctx, "tenon", "down", "--dir", g.home()) // there may be none
}

func (g *ground) home() string       { return filepath.Join(g.dir, "cluster") }
func (g *ground) kubeconfig() string { return filepath.Join(g.home(), "kubeconfig") }

// roomy has the playground's control plane, which is one process for a thousand nodes here, collect its garbage a
// third as often: what is measured is the controller, which sets this for itself.
const roomy = "GOGC=400"

// tool runs one of the programs of bin.
func (g *ground) tool(ctx context.Context, name string, args ...string) error {
	program, err := filepath.Abs(filepath.Join(top, "bin", name))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+g.kubeconfig())
	if g.stands == measured {
		cmd.Env = append(cmd.Env, roomy)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s (`make tools` makes it): %w: %s", name, args[0], err, out)
	}
	return nil
}

// run runs one spec. A spec that does not end in time is told to end, and cleans up after itself if it can.
func (g *ground) run(ctx context.Context, s spec, o options) result {
	logs := filepath.Join(o.state, "logs")
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(s.Suite+" "+s.Text), "-"), "-")
	if g.without {
		name = "without-" + name
	}
	name = name[:min(len(name), 200)]
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return result{Result: failed, Why: err.Error()}
	}
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return result{Result: failed, Why: err.Error()}
	}
	defer log.Close()
	report := filepath.Join(g.dir, "report.json")
	if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
		return result{Result: failed, Why: err.Error()}
	}
	pool := "pool.yaml"
	switch {
	case s.small():
		pool = "pool-small.yaml"
	case s.Suite == allocating:
		pool = "pool-dra.yaml"
	}
	const grace = time.Minute
	ctx, cancel := context.WithTimeout(ctx, o.limitOf(s)+3*grace)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, s.program,
		"-test.timeout=0", "-default-nodeclass="+filepath.Join(g.dir, "class.yaml"), "-default-nodepool="+filepath.Join(g.dir, pool),
		"--ginkgo.focus=^"+regexp.QuoteMeta(s.suite+" "+s.Text)+"$", "--ginkgo.timeout="+o.limitOf(s).String(), "--ginkgo.grace-period="+grace.String(),
		"--ginkgo.json-report="+report, "--ginkgo.vv", "--ginkgo.no-color")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+g.kubeconfig(), "OUTPUT_DIR="+g.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	ended := cmd.Run()
	came := outcome(report, s, ended)
	if g.without && came.timedOut {
		came.Result = waiting
	}
	if came.Seconds == 0 {
		came.Seconds = time.Since(began).Seconds()
	}
	if came.Result == failed && !g.without {
		g.controllerLog(log)
	}
	return came
}

// controllerLog adds what the controller said to what the spec said.
func (g *ground) controllerLog(to io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(top, "bin/kubectl"), "--kubeconfig", g.kubeconfig(), "logs", "-n", namespace,
		"-l", "app.kubernetes.io/name=karpenter", "-c", "controller", "--tail=3000")
	cmd.Stdout, cmd.Stderr = to, to
	_ = cmd.Run() // a log that cannot be had changes no result
}

// outcome is what the report says of a spec.
func outcome(report string, s spec, ended error) result {
	rs, err := read(report)
	if err != nil {
		return result{Result: failed, Why: fmt.Sprintf("no report: %v: %v", ended, err)}
	}
	for _, r := range rs {
		for _, x := range r.SpecReports {
			if x.LeafNodeType != types.NodeTypeIt || x.FullText() != s.Text {
				continue
			}
			came := result{Result: failed, Why: x.FailureMessage(), Seconds: x.RunTime.Seconds(), timedOut: x.State.Is(types.SpecStateTimedout)}
			switch {
			case x.State.Is(types.SpecStatePassed):
				came.Result = passed
			case x.State.Is(types.SpecStateSkipped | types.SpecStatePending):
				came.Result = skipped
			}
			return came
		}
	}
	return result{Result: failed, Why: fmt.Sprintf("the report has no such spec: %v", ended)}
}
