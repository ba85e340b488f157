package provision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// Further pools that no pod can tell from one that is there, and that come after it, change nothing of what is bought and where pods go.
func TestFurtherPoolsThatAreAlikeChangeNothing(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		w := tell(t, lines)
		b := w.Edit()
		for _, p := range w.Pools() {
			if len(p.Limits) > 0 || p.Replicas != nil {
				continue
			}
			for i := range 3 {
				more := *p
				more.ID.Name = fmt.Sprintf("%s%d", strings.ToUpper(p.ID.Name), i) // which is after p's
				more.Labels = map[string]string{"further": more.ID.Name}
				for k, v := range p.Labels {
					more.Labels[k] = v
				}
				if err := b.SetPool(more); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff(bought(provision.Decide(w, provision.Options{})), bought(provision.Decide(b.Snapshot(w.At()), provision.Options{}))); diff != "" {
			t.Fatalf("-the pools +and more of them\n%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}

// bought is what a plan buys, and which pods find no place.
func bought(p plan.Plan) (out struct {
	New     []plan.Ask
	Refused []world.Key
	Cost    money.Micro
},
) {
	out.New, out.Cost = p.New, p.Cost
	for _, r := range p.Refused {
		out.Refused = append(out.Refused, r.Pod)
	}
	slices.SortFunc(out.Refused, world.Key.Compare)
	return out
}
