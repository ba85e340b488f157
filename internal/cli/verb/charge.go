package verb

import "github.com/tenon-sh/tenon/engine/money"

// NodeCharge reads what a node counts beside its price, as options of decisions have
// it: what is not said is 0, and nothing is less than that.
func NodeCharge(text string) (money.Micro, error) {
	const most = 1000 // an hour: more is a mistake
	if text == "" {
		return 0, nil
	}
	charge, ok := money.Parse(text)
	if !ok || charge.Units() > most {
		return 0, BadInputf("--node-charge is %q, want an amount of money an hour from 0 to %d, such as 0.02", text, most)
	}
	if charge == 0 {
		return -1, nil
	}
	return charge, nil
}
