package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

func simCommand(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Do things to the simulated machines and the simulated AWS account of a playground",
		Args:  verb.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		accountCommand(dir),
		addCommand(dir),
		listCommand(dir),
		faultCommand(dir, "kill", "Pull the plug of machines: their nodes fall silent", "killed"),
		faultCommand(dir, "lose-network", "Cut machines off the network", "cut off"),
		faultCommand(dir, "recover", "Give machines their network back", "back"),
		&cobra.Command{
			Use:   "kill-controller",
			Short: "Kill the controller without notice; it starts again by itself",
			Args:  verb.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				c, err := Dial(near(*dir))
				if err != nil {
					return err
				}
				what, err := c.KillController(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), what+": killed; it starts again by itself, and where there is another replica that one leads within five seconds")
				return nil
			},
		},
	)
	return cmd
}

func addCommand(dir *string) *cobra.Command {
	r := MachineRequest{}
	cmd := &cobra.Command{
		Use:     "add-machine --type TYPE [flags]",
		Aliases: []string{"add-machines"},
		Short:   "Start machines that join the cluster by themselves",
		Example: `  tenon sim add-machine --type m5.large
  tenon sim add-machine --type g5.xlarge --zone us-west-2a --count 2 --taint team=ml:NoSchedule
  tenon sim add-machine --type c7g.xlarge --never-ready`,
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := Dial(near(*dir))
			if err != nil {
				return err
			}
			added, err := c.Add(cmd.Context(), r)
			if err != nil {
				return err
			}
			for _, m := range added {
				fmt.Fprintln(cmd.OutOrStdout(), m.ID, m.Node, m.Zone)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.Type, "type", "", "instance `type`, for instance m5.large")
	f.StringVar(&r.Zone, "zone", "", "availability `zone`; without it those that offer the type, in turn")
	f.IntVar(&r.Count, "count", 1, "how many")
	f.StringToStringVar(&r.Labels, "label", nil, "`labels` of their nodes, a=b,c=d")
	f.StringSliceVar(&r.Taints, "taint", nil, "`taints` of their nodes, key=value:Effect")
	f.BoolVar(&r.Faults.NeverBoots, "never-boots", false, "they stay dark")
	f.BoolVar(&r.Faults.NeverRegisters, "never-registers", false, "their kubelets do not start")
	f.BoolVar(&r.Faults.NeverReady, "never-ready", false, "their nodes do not become ready")
	f.DurationVar(&r.Faults.DiesAfter, "dies-after", 0, "they die after that time")
	f.DurationVar(&r.Faults.LosesNetworkAfter, "loses-network-after", 0, "they are cut off after that time")
	_ = cmd.MarkFlagRequired("type") // fails only for a flag that does not exist
	return cmd
}

func faultCommand(dir *string, what, short, done string) *cobra.Command {
	return &cobra.Command{
		Use:   what + " NODE...",
		Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the nodes or machines; `tenon sim machines` lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := Dial(near(*dir))
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := c.Do(cmd.Context(), what, name); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), name, done)
			}
			return nil
		},
	}
}

func listCommand(dir *string) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "machines",
		Short: "List the machines",
		Args:  verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := Dial(near(*dir))
			if err != nil {
				return err
			}
			ms, err := c.Machines(cmd.Context())
			if err != nil {
				return err
			}
			switch output {
			case "json":
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(ms)
			case "text":
				return table(cmd, ms)
			}
			return fmt.Errorf("-o %s: it is text or json", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text, json")
	return cmd
}

func table(cmd *cobra.Command, ms []kubelet.Status) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tNODE\tTYPE\tZONE\tSTATE")
	for _, m := range ms {
		state := string(m.State)
		if m.Why != "" {
			state += ": " + m.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.ID, m.Node, m.InstanceType, m.Zone, state)
	}
	return w.Flush()
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithTimeout(ctx, d)
}
