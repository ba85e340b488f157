package consolidate

import "github.com/tenon-sh/tenon/engine/plan"

// Startable is what the commands that may start now do, as one plan.
func (p Plan) Startable() plan.Plan {
	out := plan.Plan{World: p.World, At: p.At, Currency: p.Currency, Again: p.Again}
	for _, c := range p.Commands {
		if c.Why != nil {
			continue
		}
		out.New = append(out.New, c.New...)
		out.Back = append(out.Back, c.Back...)
		out.Filled = append(out.Filled, c.Moves...)
		for _, a := range c.New {
			out.Cost += a.Price
		}
	}
	return out
}
