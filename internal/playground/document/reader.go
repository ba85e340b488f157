package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	deploy "github.com/tenon-sh/tenon/deploy/aws"
	"github.com/tenon-sh/tenon/internal/kube"
)

// A Place is a playground that a document is followed on.
type Place struct {
	Kube      kubernetes.Interface
	Log       *Log
	Dir       string   // where the reader works, made when it is not there
	Tools     string   // the program that is kubectl and helm
	Charts    string   // host and port of the chart repository
	Endpoint  string   // of the API server
	Account   string   // number of the simulated account
	Variables []string // for kubectl and AWS clients, as in an environment
}

// A Reader follows a document: what it types is typed in one shell, with the document's files in the working directory.
type Reader struct {
	Lacks func(program string) bool // tells programs that are not to be had

	d    Document
	p    Place
	out  io.Writer
	told map[string]bool // substitutions that the reader knows of
}

// Open prepares a directory for a reader who sees out.
func Open(d Document, p Place, out io.Writer) (*Reader, error) {
	bin := filepath.Join(p.Dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return nil, fmt.Errorf("directory for the reader of document %s: %w", d.ID, err)
	}
	for _, name := range []string{"kubectl", "helm"} {
		link := filepath.Join(bin, name)
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err := os.Symlink(p.Tools, link); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(p.Dir, "cloudformation.yaml"), deploy.CloudFormation(), 0o600); err != nil {
		return nil, err
	}
	files, err := fs.Sub(stories, path.Join("stories", d.ID))
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(p.Dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	// What the first commands of every document ask the account for, for readers without its client.
	state := fmt.Sprintf("export AWS_ACCOUNT_ID=%s CLUSTER_ENDPOINT=%s\n", p.Account, p.Endpoint)
	if err := os.WriteFile(filepath.Join(p.Dir, variables), []byte(state), 0o600); err != nil {
		return nil, err
	}
	missing := func(program string) bool { _, err := exec.LookPath(program); return err != nil }
	return &Reader{Lacks: missing, d: d, p: p, out: out, told: map[string]bool{}}, nil
}

// variables is the file in which the shell's variables are from one step to the next.
const variables = ".variables"

// Tell follows the whole document. between is called before each step.
func (r *Reader) Tell(ctx context.Context, between func(context.Context) error) error {
	fmt.Fprintf(r.out, "\nDocument %s: %s\n\n%s\n", r.d.ID, r.d.Surroundings.Title, r.d.Says)
	for i, s := range r.d.Steps {
		if err := between(ctx); err != nil {
			return err
		}
		fmt.Fprintf(r.out, "\n── %d of %d: %s\n\n%s\n\n", i+1, len(r.d.Steps), s.Name, s.Says)
		if err := r.Follow(ctx, s); err != nil {
			return fmt.Errorf("document %s, %s: %w", r.d.ID, s.Name, err)
		}
	}
	return nil
}

// Follow does one step: it types the commands, and waits until everything is to be seen.
func (r *Reader) Follow(ctx context.Context, s Step) error {
	before := len(r.p.Log.String())
	for _, c := range s.Commands {
		if err := r.Type(ctx, c); err != nil {
			return err
		}
	}
	for _, sight := range s.Sees {
		if err := r.watch(ctx, sight, before); err != nil {
			return err
		}
	}
	return nil
}

// Type types commands.
func (r *Reader) Type(ctx context.Context, c Commands) error {
	text := r.substitute(c.Text)
	prompt(r.out, text)
	for _, program := range c.Needs {
		if r.Lacks(program) {
			fmt.Fprintf(r.out, "(there is no %s here, and this is passed over: the simulated account was made as if it had been done)\n\n", program)
			return nil
		}
	}
	if c.Watch {
		const enough = 3 * time.Second
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, enough)
		defer cancel()
	}
	// What the account was asked for goes on as in a terminal: the account was made as if it had been done, and clients
	// differ in whether they call that an error.
	strict := "set -e; "
	if len(c.Needs) > 0 {
		strict = ""
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", strict+". ./"+variables+"; trap 'export -p > "+variables+"' EXIT\n"+text)
	cmd.Dir = r.p.Dir
	cmd.Env = append(kube.Environment(r.p.Dir), r.p.Variables...)
	cmd.Env = append(cmd.Env, "PATH="+filepath.Join(r.p.Dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = r.out, r.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	fmt.Fprintln(r.out)
	if c.Watch && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	if err != nil && strict != "" {
		return fmt.Errorf("%w after\n%s", err, text)
	}
	return nil
}

// substitute puts this playground's addresses where the document has those of the world, and says so once.
func (r *Reader) substitute(text string) string {
	for _, s := range [][2]string{
		{"oci://public.ecr.aws/karpenter/karpenter", "oci://" + r.p.Charts + "/karpenter/karpenter --plain-http"},
		{"https://charts.karpenter.sh/", "http://" + r.p.Charts + "/ --force-update"}, // the port is another each time
		{`https://karpenter.sh/"${KARPENTER_VERSION}"/getting-started/getting-started-with-eksctl/cloudformation.yaml`, "file://" + r.p.Dir + "/cloudformation.yaml"},
		{"https://karpenter.sh/v0.6.3/getting-started/cloudformation.yaml", "file://" + r.p.Dir + "/cloudformation.yaml"},
	} {
		if !strings.Contains(text, s[0]) {
			continue
		}
		text = strings.ReplaceAll(text, s[0], s[1])
		if !r.told[s[0]] {
			r.told[s[0]] = true
			fmt.Fprintf(r.out, "(the document has %s, typed here is %s)\n", s[0], s[1])
		}
	}
	return text
}

// prompt shows commands as a terminal would: what goes on with the command before has another mark.
func prompt(out io.Writer, text string) {
	mark, until := "$ ", ""
	for line := range strings.Lines(text) {
		fmt.Fprint(out, mark, line)
		here := regexp.MustCompile(`<<\s*'?(\w+)'?`).FindStringSubmatch(line)
		switch {
		case until != "" && strings.TrimSpace(line) == until:
			until = ""
		case here != nil && until == "":
			until = here[1]
		}
		if mark = "$ "; until != "" || strings.HasSuffix(line, "\\\n") || strings.HasSuffix(line, "|\n") {
			mark = "> "
		}
	}
}

// watch waits until something is to be seen.
func (r *Reader) watch(ctx context.Context, s Sight, before int) error {
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		said, all, err := s.look(ctx, r.p.Kube, r.p.Log.String()[before:])
		if all {
			fmt.Fprintf(r.out, "  → %s\n", said)
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("after %s %s (%w)", limit, said, errors.Join(err, ctx.Err()))
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}
