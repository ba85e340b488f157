package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// accountCommand does things to the simulated AWS account: what its control
// interface has, by the names that it has there.
func accountCommand(dir *string) *cobra.Command {
	var lift bool
	cmd := &cobra.Command{
		Use:   "account [WHAT [NAME=VALUE...]]",
		Short: "Do things to the simulated AWS account: capacity, reservations, prices, faults, notices, images",
		Long: `Has something happen to the simulated AWS account, or shows what there is. Without
WHAT it lists everything that can be done, each with the names it takes.`,
		Example: `  tenon sim account
  tenon sim account state
  tenon sim account capacity type=m5.large zone=us-west-2a left=0
  tenon sim account capacity --lift type=m5.large
  tenon sim account price type=c6a.large capacityType=spot factor=3
  tenon sim account reservation type=m5.large zone=us-west-2a count=2 tag=team=ml
  tenon sim account reservation --lift id=cr-0123456789abcdef0
  tenon sim account interrupt instance=i-0123456789abcdef0
  tenon sim account impair instance=i-0123456789abcdef0 check=system
  tenon sim account faults action=CreateFleet kind=lose times=2
  tenon sim account zone zone=us-west-2a minutes=30
  tenon sim account release kubernetes=1.34
  tenon sim account reset`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := Dial(near(*dir))
			if err != nil {
				return err
			}
			p := panel{endpoint: c.AWS, out: cmd.OutOrStdout()}
			if len(args) == 0 {
				return p.list(cmd.Context())
			}
			return p.do(cmd.Context(), args[0], lift, args[1:])
		},
	}
	cmd.Flags().BoolVar(&lift, "lift", false, "lift what was set so, instead of setting it")
	return cmd
}

// panel is the control interface of a simulated account.
type panel struct {
	endpoint string
	out      io.Writer
}

// call is one entry of its list.
type call struct {
	Call string `json:"call"` // method and path
	Does string `json:"does"`
}

func (c call) method() string { method, _, _ := strings.Cut(c.Call, " "); return method }
func (c call) name() string   { return c.Call[strings.LastIndexByte(c.Call, '/')+1:] }

func (p panel) calls(ctx context.Context) ([]call, error) {
	data, err := p.send(ctx, http.MethodGet, "", nil)
	if err != nil {
		return nil, err
	}
	var all []call
	return all, json.Unmarshal(data, &all)
}

func (p panel) list(ctx context.Context) error {
	all, err := p.calls(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	for _, c := range all {
		name := c.name()
		if c.method() == http.MethodDelete {
			name += " --lift"
		}
		fmt.Fprintf(w, "%s\t%s\n", name, c.Does)
	}
	return w.Flush()
}

// do sends one call and prints the answer.
func (p panel) do(ctx context.Context, what string, lift bool, args []string) error {
	all, err := p.calls(ctx)
	if err != nil {
		return err
	}
	method, names := "", map[string]bool{}
	for _, c := range all {
		names[c.name()] = true
		if c.name() == what && (c.method() == http.MethodDelete) == lift && (method == "" || len(args) > 0) {
			method = c.method()
		}
	}
	if method == "" {
		return p.unknown(what, lift, slices.Sorted(maps.Keys(names)))
	}
	fields := map[string]string{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return verb.BadInputf("%q: write NAME=VALUE", arg)
		}
		fields[name] = text
	}
	data, err := p.send(ctx, method, what, fields)
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}

// unknown says what may have been meant by a name that is not there.
func (p panel) unknown(what string, lift bool, names []string) error {
	const list = "`tenon sim account` lists what can be done"
	switch meant := label.Meant(what, names); {
	case meant == what && lift:
		return verb.BadInputf("%s cannot be lifted: %s", what, list)
	case meant == what:
		return verb.BadInputf("%s cannot be done so: %s", what, list)
	case meant != "":
		return verb.BadInputf("nothing called %q can be done to the account: did you mean %q? %s", what, meant, list)
	default:
		return verb.BadInputf("nothing called %q can be done to the account: %s", what, list)
	}
}

func (p panel) send(ctx context.Context, method, what string, fields map[string]string) ([]byte, error) {
	address := p.endpoint + "/_tenon/" + what
	var body io.Reader
	if method != http.MethodGet {
		data, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	if method != http.MethodPost && len(fields) > 0 {
		query := url.Values{}
		for name, v := range fields {
			query.Set(name, v)
		}
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("reach the simulated account: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(data, &said) != nil || said.Error == "" {
			said.Error = strings.TrimSpace(string(data))
		}
		return nil, fmt.Errorf("the simulated account refuses %s: %s", what, said.Error)
	}
	return data, nil
}
