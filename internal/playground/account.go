package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
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
			c, err := Dial(Dir(*dir))
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
	method := ""
	for _, c := range all {
		if c.name() == what && (c.method() == http.MethodDelete) == lift && (method == "" || len(args) > 0) {
			method = c.method()
		}
	}
	if method == "" {
		return fmt.Errorf("nothing called %q can be done to the account: `tenon sim account` lists what can", what)
	}
	fields := map[string]any{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: write NAME=VALUE", arg)
		}
		fields[name] = valueOf(text)
	}
	data, err := p.send(ctx, method, what, fields)
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}

// valueOf is a number or a truth value where the text is one.
func valueOf(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	switch v.(type) {
	case float64, bool:
		return v
	}
	return text
}

func (p panel) send(ctx context.Context, method, what string, fields map[string]any) ([]byte, error) {
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
			query.Set(name, fmt.Sprint(v))
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
		return nil, fmt.Errorf("the simulated account: %s", strings.TrimSpace(string(data)))
	}
	return data, nil
}
