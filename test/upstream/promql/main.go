// Command promql says which metrics and labels queries of Prometheus ask for.
//
// It reads a JSON list of queries and writes a list with what each asks for. It is
// a module of its own: the parser of Prometheus brings more libraries than the
// product has, for one test.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

// Query is what one query asks for.
type Query struct {
	Error   string   // why it is none
	Metrics []string // by name
	Labels  []string // that are matched or grouped by
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func run() error {
	var queries []string
	if err := json.NewDecoder(os.Stdin).Decode(&queries); err != nil {
		return fmt.Errorf("read a JSON list of queries: %w", err)
	}
	out := make([]Query, len(queries))
	for i, q := range queries {
		out[i] = read(q)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func read(query string) Query {
	var out Query
	tree, err := parser.ParseExpr(query)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			out.Metrics = append(out.Metrics, n.Name)
			for _, m := range n.LabelMatchers {
				if m.Name != "__name__" {
					out.Labels = append(out.Labels, m.Name)
				}
			}
		case *parser.AggregateExpr:
			out.Labels = append(out.Labels, n.Grouping...)
		}
		return nil
	})
	return out
}
