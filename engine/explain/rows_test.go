package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestNodes(t *testing.T) {
	b := enginetest.Steady(30, 0).Edit()
	for i := range 30 {
		for j := range 8 { // half of what runs there
			b.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", i, j)})
		}
	}
	w := b.Snapshot(0)
	rows := explain.New(w, provision.Options{}).Nodes()
	if len(rows) != 30 || !slices.ContainsFunc(rows, func(r explain.Row) bool { return r.Elsewhere }) {
		t.Errorf("%d rows, and none whose pods would fit elsewhere", len(rows))
	}
	if text := explain.RowsText(rows); !strings.HasPrefix(text, "NODE") || !strings.Contains(text, "\n30 nodes, $") {
		t.Error(text)
	}
}
