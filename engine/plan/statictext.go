package plan

import (
	"cmp"
	"fmt"
	"strings"
)

// writeStatic writes how static pools stand for a person.
func (p Plan) writeStatic(b *strings.Builder, wide bool) {
	for _, s := range p.Static {
		fmt.Fprintf(b, "%s\n", s)
		for _, a := range p.New {
			if a.Pool == s.Pool {
				a.write(b, p.Currency, wide)
			}
		}
		for _, c := range p.Commands {
			for _, g := range c.Back {
				if g.Pool == s.Pool {
					fmt.Fprintf(b, "- %s %s\n", cmp.Or(g.Node, g.Claim), g.Price.PerHour(p.Currency))
				}
			}
		}
		if s.Why != nil {
			fmt.Fprintf(b, "%s:\n%s\n", s.lack(), s.Why)
		}
	}
}
