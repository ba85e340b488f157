package matrix

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// both is the variable that asks for stories under two faults.
const both = "TENON_TEST_PAIRS"

// kept is a file with a line for each pair that was told: a run that was cut off goes on where it was.
var kept = flag.String("kept", "", "`file` that keeps what came of stories under two faults; those in it are not told again")

// How stories under two faults are drawn.
const (
	drawn  = 30              // that gate every change
	behind = 3 * time.Minute // the second fault begins before so much has passed
)

// double is a story told under two faults that overlap.
type double struct {
	first, second, story int
	from                 time.Duration // the second begins
}

func (d double) String() string {
	return fmt.Sprintf("%s, %s/%s", faults()[d.first].name, faults()[d.second].name, stories()[d.story].name)
}

func (d double) of() (story, []during) {
	return stories()[d.story], []during{{fault: faults()[d.first]}, {fault: faults()[d.second], from: d.from}}
}

// doubles are all stories under two faults of different kinds. Notices matter where
// machines go by themselves. A process that ends because it cannot renew its Lease,
// while its queues are full of what the API server refuses, leaves goroutines of
// controller-runtime behind that wait for a lock, and virtual time waits for them. Which of two faults begins, and how long before the
// other, is drawn from their names, and so is the same in every run, and so is their
// order, in which any part is a sample of all.
func doubles() (out []double) {
	all := faults()
	for i, f := range all {
		for j, g := range all[i+1:] {
			if f.kind == "" || f.kind == g.kind || f.leases && g.kind == server || g.leases && f.kind == server {
				continue
			}
			for k, s := range stories() {
				if (f.queue || g.queue) && !s.queue && s.name != "death of a machine" {
					continue
				}
				d := double{first: i, second: i + 1 + j, story: k}
				name := fnv.New64()
				_, _ = name.Write([]byte(d.String()))
				chance := rand.New(rand.NewPCG(1, name.Sum64())) //nolint:gosec // the same in every run
				if chance.IntN(2) == 0 {
					d.first, d.second = d.second, d.first
				}
				if !all[d.second].ever { // what was always so has no beginning
					d.from = time.Duration(chance.IntN(int(behind/time.Second))) * time.Second
				}
				out = append(out, d)
			}
		}
	}
	chance := rand.New(rand.NewPCG(2, 0)) //nolint:gosec // the same in every run
	chance.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// share is what gates every change: the first of those in which one node at most
// gives way to another, and no fault of the API server or of the process puts
// writes off, which it does by another length in each run.
func share(all []double) (out []double) {
	names := faults()
	for _, d := range all {
		kinds := []kind{names[d.first].kind, names[d.second].kind}
		if len(out) < drawn && slices.Contains(simple, stories()[d.story].name) && !slices.Contains(kinds, server) && !slices.Contains(kinds, process) {
			out = append(out, d)
		}
	}
	return out
}

// asked are those that the variable asks for: all of them, the first so many, one of equal
// parts, such as 3/8, or those whose names it matches. Without it they are the fixed share.
func asked(all []double, text string) []double {
	var part, of int
	n, err := strconv.Atoi(text)
	switch parts, _ := fmt.Sscanf(text, "%d/%d", &part, &of); {
	case text == "":
		return share(all)
	case err == nil:
		return all[:min(n, len(all))]
	case parts == 2 && 0 < part && part <= of:
		return all[(part-1)*len(all)/of : part*len(all)/of]
	}
	only := matching(text)
	return slices.DeleteFunc(slices.Clone(all), func(d double) bool { return !only.MatchString(d.String()) })
}

// TENON_TEST_PAIRS says which are told. With -kept they may be told in several runs.
func TestPairs(t *testing.T) {
	r := quiet(t)
	all := doubles()
	k := keep(t, *kept)
	t.Run("pairs", func(t *testing.T) {
		for _, d := range asked(all, os.Getenv(both)) {
			if k.has(d) {
				continue
			}
			t.Run(d.String(), func(t *testing.T) {
				t.Parallel()
				k.add(t, d, try(t, r, d.of))
			})
		}
	})
	if *rewrite && os.Getenv(both) != "" {
		rewritten(t, two, tableOf(k.results(all), len(all)))
	}
}

// keeper keeps what came of pairs, in a file if it has one.
type keeper struct {
	mu   sync.Mutex
	file *os.File
	told map[string]outcome
}

// outcome is what came of a pair, as a line of JSON.
type outcome struct {
	Pair  string
	Fails bool          `json:",omitempty"`
	After time.Duration `json:",omitempty"`
}

func keep(t *testing.T, path string) *keeper {
	t.Helper()
	k := &keeper{told: map[string]outcome{}}
	if path == "" {
		return k
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for lines := json.NewDecoder(file); ; {
		var o outcome
		if err := lines.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v; delete it, and all pairs are told again", path, err)
		}
		k.told[o.Pair] = o
	}
	k.file = file
	return k
}

func (k *keeper) has(d double) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.told[d.String()]
	return ok
}

func (k *keeper) add(t *testing.T, d double, r result) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	o := outcome{Pair: d.String(), Fails: len(r.problems) > 0, After: r.after}
	k.told[o.Pair] = o
	if k.file == nil {
		return
	}
	if err := json.NewEncoder(k.file).Encode(o); err != nil {
		t.Error(err)
	}
}

// results are those of the pairs that have been told.
func (k *keeper) results(all []double) map[double]outcome {
	out := map[double]outcome{}
	for _, d := range all {
		if o, ok := k.told[d.String()]; ok {
			out[d] = o
		}
	}
	return out
}

// told is what came of all stories under faults of two kinds.
type told struct {
	kinds        string
	tried, fails int
	slowest      time.Duration
	of           string // it was
}

func tableOf(results map[double]outcome, whole int) string {
	sums := map[string]*told{}
	names := faults()
	fails := 0
	for _, d := range slices.SortedFunc(maps.Keys(results), func(a, b double) int { return cmp.Compare(a.String(), b.String()) }) {
		f, g := min(d.first, d.second), max(d.first, d.second)
		kinds := string(names[f].kind) + " | " + string(names[g].kind)
		sum := sums[kinds]
		if sum == nil {
			sum = &told{kinds: kinds}
			sums[kinds] = sum
		}
		sum.tried++
		r := results[d]
		if r.Fails {
			sum.fails++
			fails++
		}
		if s := stories()[d.story].name; r.After > sum.slowest && s != "expiry" { // which ends when its time has come
			sum.slowest, sum.of = r.After, d.String()
		}
	}
	var b strings.Builder
	b.WriteString("\n<!-- Written by `TENON_TEST_PAIRS=all go test ./test/matrix -run TestPairs -rewrite`. -->\n\n" +
		"Each story is told again under every two faults of different kinds: of two faults of one kind the worse hides the other. The second begins up to three minutes after the first, and lasts as long; " +
		"which is the first, and how long before the other, is drawn once for each two. They pass by the same rules, but that each machine may be bought once more: " +
		"where the API server takes no writes for minutes, or the cloud carries a request out late, a claim is given up whose machine has been bought, and the machine ends with it.\n\n" +
		"| fault of | with one of | stories told | that fail | longest until all was so | which was |\n|---|---|---|---|---|---|\n")
	for _, k := range keys(sums) {
		s := sums[k]
		fmt.Fprintf(&b, "| %s | %d | %d | %v | %s |\n", s.kinds, s.tried, s.fails, s.slowest, s.of)
	}
	fmt.Fprintf(&b, "\n%d stories under two faults, of %d that there are, of which %d fail.\n", len(results), whole, fails)
	for _, d := range slices.SortedFunc(maps.Keys(results), func(a, b double) int { return cmp.Compare(a.String(), b.String()) }) {
		if results[d].Fails {
			fmt.Fprintf(&b, "\n* fails: %s\n", d)
		}
	}
	return b.String()
}
