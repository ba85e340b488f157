package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/internal/kube"
)

//nolint:gochecknoglobals // flags of the test program
var (
	worlds = flag.Int("worlds", 150, "how many made-up clusters to plan for")
	first  = flag.Uint64("seed", 1, "the first cluster's seed")
	orders = flag.Int("orders", 0, "in how many random orders to let the default profile bind each plan")
)

// Every placement of a plan is one that kube-scheduler's filters accept in some
// order, and no pod is refused that they would accept anywhere.
func TestPlansAreRight(t *testing.T) {
	program, err := kube.Find()
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	out := json.NewEncoder(&in)
	texts := map[string]string{}
	for seed := *first; seed < *first+uint64(*worlds); seed++ { //nolint:gosec // a small number
		c := generate(seed)
		w, err := c.world()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		p := provision.Decide(w, provision.Options{})
		name := fmt.Sprintf("seed %d", seed)
		texts[name] = p.Text(true)
		if err := out.Encode(c.ask(name, p, *orders, seed)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "oracle")
	cmd.Stdin = &in
	var errs bytes.Buffer
	cmd.Stderr = &errs
	answers, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		t.Fatalf("oracle: %v\n%s", err, errs.String())
	}
	judged, placed, stranded := 0, 0, 0
	for dec := json.NewDecoder(bytes.NewReader(answers)); dec.More(); judged++ {
		var v verdict
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		placed += v.Placed
		for _, n := range v.Stranded {
			stranded += n
		}
		if v.Error != "" || len(v.Wrong)+len(v.Possible) > 0 {
			t.Errorf("%s: %s\n  refused by the scheduler: %q\n  refused by us, possible: %q\n%s", v.Name, v.Error, v.Wrong, v.Possible, texts[v.Name])
		}
	}
	if judged != *worlds || placed == 0 {
		t.Errorf("%d of %d plans judged, %d pods placed", judged, *worlds, placed)
	}
	t.Logf("%d plans, %d placements accepted, %d pods stranded over %d orders each", judged, placed, stranded, *orders)
}
