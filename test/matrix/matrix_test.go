package matrix

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// How long things may take, in the cluster's own time.
const (
	// A fault lasts 11 minutes: a claim that cannot be launched is given up after
	// five, and so is the next one. If the fault ended in the second in which that
	// happens, a machine could be bought for the old claim and for the new one.
	lasts    = 11 * time.Minute
	recovers = 60 * time.Minute // until all is as it should be, after it
	stays    = 5 * time.Minute  // so, at least
)

// everything is the variable that asks for pairs.
const everything = "TENON_TEST_MATRIX"

// written is where the results of a run of every pair are written.
const written = "../../docs/faults.md"

var rewrite = flag.Bool("rewrite", false, "write "+written+" from a run of every pair")

// gates reports whether the pair of the i-th fault and a story is one of the share that
// gates every change: each story without a fault, and each fault with one of some
// stories. In the others several nodes give way to others, and how many are bought
// for them while something is wrong was seen to differ from run to run.
func gates(i int, story string) bool {
	simple := []string{"scale down", "first node", "deletion of a claim", "adoption", "scale up", "death of a machine"}
	return i == 0 || story == simple[i%len(simple)]
}

// A fixed share of the pairs runs with all other tests. TENON_TEST_MATRIX=all tries
// each fault with each story, and another value the pairs whose names it matches.
func TestMatrix(t *testing.T) {
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil //nolint:reassign // one of them slows down by a clock that was read outside of virtual time
	r, err := region()
	if err != nil {
		t.Fatal(err)
	}
	asked := os.Getenv(everything)
	pattern := asked
	if asked == "all" {
		pattern = ""
	}
	only := regexp.MustCompile(pattern)
	var mu sync.Mutex
	results := map[string]result{}
	t.Run("pairs", func(t *testing.T) {
		for i, f := range faults() {
			for j := range stories() {
				name := f.name + "/" + stories()[j].name
				if asked == "" && !gates(i, stories()[j].name) || !only.MatchString(name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						w := newTown(t, r)
						defer w.end()
						if err := w.prepare(r, faults()[i], stories()[j]); err != nil {
							t.Fatal(err)
						}
						if faults()[i].ever {
							faults()[i].stage(w)
						}
						w.start()
						got := tell(w, faults()[i], stories()[j])
						t.Log(got)
						for _, p := range got.problems {
							t.Error(p)
						}
						mu.Lock()
						defer mu.Unlock()
						results[name] = got
					})
				})
			}
		}
	})
	if !*rewrite {
		return
	}
	if asked != "all" {
		t.Fatalf("the page is written from every pair: set %s=all", everything)
	}
	if err := os.WriteFile(written, []byte(pageOf(results)), 0o644); err != nil { //nolint:gosec // a page for everyone
		t.Fatal(err)
	}
}

// result is what became of one pair.
type result struct {
	after    time.Duration // the end of the fault, until all was as it should be
	bought   int
	problems []string
}

func (r result) String() string {
	if len(r.problems) > 0 {
		return "**fails**"
	}
	return fmt.Sprintf("%v, %d", r.after, r.bought)
}

// tell tells a story while something is wrong.
func tell(w *town, f fault, s story) (out result) {
	w.t.Helper()
	s.before(w)
	w.deaf = f.deaf
	f.stage(w)
	s.act(w)
	at := 0
	w.live(lasts, func() bool {
		if f.each != nil {
			f.each(w, at)
		}
		at++
		return false
	})
	f.lift(w)
	w.deaf = false
	lifted := time.Now()
	left := func() string {
		if why := w.unsettled(); why != "" {
			return why
		}
		return s.done(w)
	}
	if !w.live(recovers, func() bool { return left() == "" }) {
		out.problems = append(out.problems, "an hour after: "+left())
	}
	out.after = time.Since(lifted).Round(time.Second)
	w.pass(stays)
	if why := left(); why != "" {
		out.problems = append(out.problems, "it did not stay so: "+why)
	}
	most := s.buys
	if f.twice {
		most *= 2
	}
	if out.bought = len(w.host); out.bought > most {
		out.problems = append(out.problems, fmt.Sprintf("%d machines were bought, and %d would do", out.bought, most))
	}
	out.problems = append(out.problems, w.problems...)
	return out
}

// pageOf is the page: a row for each fault, a column for each story.
func pageOf(results map[string]result) string {
	var b strings.Builder
	b.WriteString("# What holds while something is wrong\n\n" +
		"<!-- Written by `TENON_TEST_MATRIX=all go test ./test/matrix -rewrite`. -->\n\n" +
		"Each story is told once for every fault, with the whole controller in virtual time (`test/matrix`). A fault lasts eleven minutes from the moment the story begins, unless it is there before the controller starts and stays for good. " +
		"A pair passes if no machine ends with pods on it, no pod waits for three minutes without a word, no machine is bought twice, and within an hour after the fault every machine has its claim and node, " +
		"every pod runs, and the story has come to its end and stays there.\n\n" +
		"A cell says how long after the fault all was so, and how many machines had been bought in all, those from before the fault among them.\n\n")
	all := stories()
	b.WriteString("| fault |")
	for _, s := range all {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	n, failed := 0, 0
	for _, f := range faults() {
		b.WriteString("| " + f.name + " |")
		for _, s := range all {
			r := results[f.name+"/"+s.name]
			n++
			if len(r.problems) > 0 {
				failed++
			}
			b.WriteString(" " + r.String() + " |")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d pairs, of which %d fail.\n\n", n, failed)
	b.WriteString("While the cloud is silent a machine may be bought once more for each claim that is given up after five minutes with its request under way: the cloud carries it out when it answers again, and the machine ends with its claim.\n" +
		"While the API server is silent no event can be written, and no pod can be told anything.\n")
	return b.String()
}
