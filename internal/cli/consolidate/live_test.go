package consolidate_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	engine "github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/consolidate"
	"github.com/tenon-sh/tenon/internal/journal"
)

// What no flag says is as the running controller has it.
func TestAsTheController(t *testing.T) {
	s := enginetest.NewScene()
	for _, line := range []string{
		"type large cpu=2 memory=8Gi price=0.0940 zones=a", "type xlarge cpu=4 memory=16Gi price=0.1000 zones=a", "pool p",
		"node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge", "pod a cpu=1 memory=1Gi node=n1",
	} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	made := s.World()
	b, moved, soon := made.Edit(), *made.Pools()[0], int64(0)
	moved.Disruption = world.PoolDisruption{EmptyAfter: &soon, MoveAfter: &soon, Budgets: []world.Budget{{Nodes: "100%"}}}
	if err := b.SetPool(moved); err != nil {
		t.Fatal(err)
	}
	n := *made.Places()[0].Node
	n.Labels = maps.Clone(n.Labels)
	n.Labels[label.CapacityType] = label.OnDemand
	if err := b.SetNode(n); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(made.At())
	for name, c := range map[string]struct {
		why   string
		level string // of the controller
		args  []string
		goes  bool
	}{
		"Eager":    {"It moves pods for little.", engine.Eager, nil, true},
		"Cautious": {"It does not.", engine.Cautious, nil, false},
		"Older":    {"A controller that does not tell is taken to be as usual.", "", nil, false},
		"Flag":     {"What a flag says is meant.", engine.Cautious, []string{"--level", engine.Eager}, true},
	} {
		t.Run(name, func(t *testing.T) {
			pages := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				e := journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Disrupt: disrupt.Options{Consolidate: engine.Options{Level: c.level}}}}
				if err := e.Write(rw); err != nil {
					t.Error(err)
				}
			}))
			defer pages.Close()
			config := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, pages.URL)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := consolidate.Command("test")
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetArgs(append([]string{"--kubeconfig", config, "--controller", pages.URL, "--least-saving", "0"}, c.args...))
			if err := cmd.Execute(); err != nil {
				t.Fatal(err)
			}
			if goes := !strings.Contains(out.String(), "Stay, because"); goes != c.goes {
				t.Errorf("%s\n%s", c.why, out.String())
			}
		})
	}
}
