package playground

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/playground/document"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// account is the number of the simulated account.
const account = "123456789012"

// Surround gives the playground what surrounds a document: its region, its cluster's name and version, and the nodes that are no
// that of its reader. The reader installs the controller.
func (o *Options) Surround(d document.Document) {
	s := d.Surroundings
	o.Region, o.ClusterName, o.KubernetesVersion, o.ExtraZones = s.Region, s.Cluster, s.Kubernetes, s.Zones
	o.Surroundings = Surroundings{Managed: s.Managed, Fargate: s.Fargate, Daemons: true}
	o.Controller, o.Bare = ByHand, true
	if o.Host == "" {
		o.Host = "m5.large"
	}
	if s.Fargate > 0 {
		o.Host = OnFargate
	}
}

// vary has what a reader says take the place of what surrounds a document, as far as that can be: a story that is told
// expects what it says.
func (o *Options) vary(said func(flag string) bool, given Options, detached bool) error {
	for _, v := range []struct {
		flag    string
		to      *string
		instead string
	}{{"region", &o.Region, given.Region}, {"cluster-name", &o.ClusterName, given.ClusterName}, {"kubernetes-version", &o.KubernetesVersion, given.KubernetesVersion}} {
		switch {
		case !said(v.flag):
		case !detached && v.instead != *v.to:
			return fmt.Errorf("--%s: the story of the document expects %s; with --detach, where you type it yourself, it can be another", v.flag, *v.to)
		default:
			*v.to = v.instead
		}
	}
	for _, flag := range []string{"managed-nodes", "fargate-nodes", "daemons", "controller", "chart", "bare"} {
		if said(flag) {
			return fmt.Errorf("--%s: --document says itself what is there; leave one of them out", flag)
		}
	}
	return nil
}

// followed runs a playground with what surrounds a document, and follows the document there.
func followed(cmd *cobra.Command, id string, o Options, detach bool) error {
	d, err := document.Load(id)
	if err != nil {
		return verb.BadInputf("--document: %w", err)
	}
	given := o
	o.Surround(d)
	if err := o.vary(cmd.Flags().Changed, given, detach || !o.Story); err != nil {
		return verb.BadInput(err)
	}
	o.Demo, o.Document = false, d.ID
	out := cmd.OutOrStdout()
	if detach {
		return detached(cmd.Context(), o, out, os.Args[1:])
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	told := make(chan error, 1)
	o.Life = out
	err = Run(ctx, o, func(c Contact) {
		if !o.Story { // somebody else follows it, with the same files and programs
			t, err := Follow(ctx, d, o, c, out)
			if err == nil {
				t.Close()
			}
			told <- err
			return
		}
		go func() {
			err := tell(ctx, d, o, c, os.Stdin, out)
			if err != nil {
				stop()
			}
			told <- err
		}()
	})
	if err != nil {
		return err
	}
	stop()
	if err := <-told; cmd.Context().Err() == nil {
		return err
	}
	return nil
}

// A Told document is one that is followed on a playground, until it is closed.
type Told struct {
	*document.Reader
	Log   *document.Log
	close func()
}

// Close ends what follows the log.
func (t *Told) Close() { t.close() }

// Follow prepares a playground, which was surrounded for the document, for its reader, who sees out.
func Follow(ctx context.Context, d document.Document, o Options, c Contact, out io.Writer) (*Told, error) {
	tools, err := kube.Find()
	if err != nil {
		return nil, err
	}
	access, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	access.QPS = -1
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	log := document.FollowLog(ctx, client)
	done := sync.OnceFunc(func() { stop(); log.Wait() })
	r, err := document.Open(d, document.Place{
		Kube: client, Log: log, Dir: o.Dir.join("document"), Tools: tools, Charts: c.Charts, Endpoint: c.APIServer, Account: account,
		Variables: append([]string{"KUBECONFIG=" + c.Kubeconfig}, (&cloud{URL: c.AWS}).environment(o.Region, awsapi.AdminKey)...),
	}, out)
	if err != nil {
		done()
		return nil, err
	}
	return &Told{Reader: r, Log: log, close: done}, nil
}

// tell follows a document from its beginning to its end and tells of it, while somebody looks on. Where in is a terminal, each step waits for
// a line of it.
func tell(ctx context.Context, d document.Document, o Options, c Contact, in *os.File, out io.Writer) error {
	t, err := Follow(ctx, d, o, c, out)
	if err != nil {
		return err
	}
	defer t.Close()
	between := func(context.Context) error { return nil }
	if terminal(in) {
		lines := bufio.NewScanner(in)
		between = func(ctx context.Context) error {
			fmt.Fprint(out, "\n[Enter goes on]\n")
			lines.Scan()
			return ctx.Err()
		}
	}
	if err := t.Tell(ctx, between); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThat was document %s. The cluster stays until Ctrl-C; its files are in %s.\n", d.ID, o.Dir.join("document"))
	return nil
}

// terminal reports whether somebody may type into a file.
func terminal(f *os.File) bool {
	is, err := f.Stat()
	nothing, none := os.Stat(os.DevNull)
	return err == nil && none == nil && is.Mode()&os.ModeCharDevice != 0 && !os.SameFile(is, nothing)
}
