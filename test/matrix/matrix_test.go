package matrix

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tenon-sh/tenon/internal/catalog"
)

// everything is the variable that asks for pairs.
const everything = "TENON_TEST_MATRIX"

// written is where the results of a run of every pair are written: what holds under
// one fault, and below its heading what holds under two.
const (
	written = "../../docs/faults.md"
	heading = "\n## Two faults at once\n"
)

// The halves of the page.
const (
	one = iota
	two
)

var rewrite = flag.Bool("rewrite", false, "write "+written+" from a run of every pair")

// simple are stories in which one node at most gives way to another.
var simple = []string{"scale down", "first node", "deletion of a claim", "adoption", "scale up", "death of a machine"}

// gates reports whether the pair of the i-th fault and a story is one of the share that
// gates every change: each story without a fault, and each fault with one of some
// stories. In the others several nodes give way to others, and how many are bought
// for them while something is wrong was seen to differ from run to run.
func gates(i int, story string) bool {
	return i == 0 || story == simple[i%len(simple)]
}

// A fixed share of the pairs runs with all other tests. TENON_TEST_MATRIX=all tries
// each fault with each story, and another value the pairs whose names it matches.
func TestMatrix(t *testing.T) {
	r := quiet(t)
	asked := os.Getenv(everything)
	only := matching(asked)
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
					got := try(t, r, func() (story, []during) { return stories()[j], []during{{fault: faults()[i]}} })
					mu.Lock()
					defer mu.Unlock()
					results[name] = got
				})
			}
		}
	})
	if *rewrite && asked == "all" {
		rewritten(t, one, pageOf(results))
	}
}

// quiet ends what is said outside of a bubble, and loads what all of them need.
func quiet(t *testing.T) *catalog.Region {
	t.Helper()
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil //nolint:reassign // one of them slows down by a clock that was read outside of virtual time
	r, err := region()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// matching is the pattern of the names that a variable asks for.
func matching(asked string) *regexp.Regexp {
	if asked == "all" {
		asked = ""
	}
	return regexp.MustCompile(asked)
}

// rewritten writes one half of the page, and leaves the other as it is.
func rewritten(t *testing.T, half int, text string) {
	t.Helper()
	page, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	halves := strings.SplitN(string(page), heading, 2)
	if len(halves) == 1 {
		halves = append(halves, "")
	}
	halves[half] = text
	if err := os.WriteFile(written, []byte(strings.Join(halves, heading)), 0o644); err != nil { //nolint:gosec // a page for everyone
		t.Fatal(err)
	}
}

// try tells a story in a bubble of its own.
func try(t *testing.T, r *catalog.Region, of func() (story, []during)) (got result) {
	t.Helper()
	bubbled(t, func(t *testing.T) {
		s, wrong := of()
		w := newTestCluster(t, r)
		defer w.end()
		if err := w.prepare(r, s, wrong...); err != nil {
			t.Fatal(err)
		}
		w.start()
		got = tell(w, s, wrong...)
	})
	t.Log(got)
	for _, p := range got.problems { // said within the bubble they would end the test, and what came of it would not be kept
		t.Error(p)
	}
	return got
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
func tell(w *testCluster, s story, wrong ...during) (out result) {
	w.t.Helper()
	s.before(w)
	var since, end time.Duration
	most := s.buys
	for _, d := range wrong {
		end = max(end, d.from+lasts)
		if d.twice || len(wrong) > 1 { // see tableOf
			most = 2 * s.buys
		}
		if d.from == 0 {
			d.begin(w)
		}
	}
	s.act(w)
	w.live(end+time.Second, func() bool {
		for _, d := range wrong {
			d.now(w, since)
		}
		since += time.Second
		return since > end
	})
	lifted := time.Now()
	left := func() string {
		if why := w.unsettled(); why != "" {
			return why
		}
		return s.done(w)
	}
	so, why := lifted, ""
	held := func() bool { // all is so, and has been so
		if now := left(); now != "" {
			so, why = time.Now().Add(time.Second), now
		}
		return time.Since(so) >= stays
	}
	// What is begun after all was so once, such as a node that is replaced because prices
	// are what they were, starts the wait again. The hour is for all of it.
	if !w.live(recovers+stays, held) {
		out.problems = append(out.problems, fmt.Sprintf("an hour after, not so for %v: %s", stays, why))
	}
	out.after = so.Sub(lifted).Round(time.Second)
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
