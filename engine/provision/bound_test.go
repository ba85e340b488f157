package provision_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
)

// Pods that are spread over zones cannot all be where they cost least, and the bound of what is spent knows how many cannot.
func TestBoundOfSpread(t *testing.T) {
	const market = `type a cpu=2 memory=4Gi price=0.10 zones=a
type b cpu=2 memory=4Gi price=0.50 zones=b
type c cpu=2 memory=4Gi price=2.50 zones=c
pool general`
	for _, tc := range []struct {
		why, lines string
		least      float64 // with 0.02 for each node
	}{
		{"Of two one is in the second zone, and neither has to be in the third.", "pod web x2 cpu=2 spread=zone:1", 0.64},
		{"Of three one is in each.", "pod web x3 cpu=2 spread=zone:1", 3.16},
		{"Of five two are in the second zone.", "pod web x5 cpu=2 spread=zone:1", 2*0.12 + 2*0.52 + 2.52},
		{"A skew of two leaves two more in the first.", "pod web x4 cpu=2 spread=zone:2\npod rest x30 cpu=2 select=zone:a", 32*0.12 + 2*0.52},
		{"What counts and carries no constraint may have been bound first, wherever that helps.", "pod web x2 cpu=2 spread=zone:1\npod job x2 cpu=2 app=web", 4 * 0.12},
		{"Pods that run count: two in the third zone leave room for two in each of the others.", `node n cpu=4 memory=8Gi zone=c
pod old x2 cpu=2 app=web node=n
pod web x4 cpu=2 spread=zone:1`, 2*0.12 + 2*0.52},
	} {
		s := enginetest.NewScene()
		for line := range strings.SplitSeq(market+"\n"+tc.lines, "\n") {
			if err := s.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		p := provision.Decide(s.World(), provision.Options{ProveSpend: true})
		if want := money.Micro(tc.least * 1e6); p.SpendBound > p.Spend() || p.SpendBound < want-2 || p.SpendBound > want {
			t.Errorf("the bound is %d, want %d:\n%s\n%s", p.SpendBound, want, p, tc.why)
		}
	}
}
