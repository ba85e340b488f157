package rules_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/tenon-sh/tenon/internal/rules"
)

// Every rule is shown a small house that breaks it, and one beside it that
// does not: a rule that cannot fail keeps nothing.
func TestBroken(t *testing.T) {
	layers := func(root string) ([]rules.Fault, error) {
		tree, err := rules.Read(root)
		if err != nil {
			return nil, err
		}
		return slices.Concat(tree.Layers(), tree.Names(), tree.Inits(), tree.Chance(), tree.Sizes(), tree.Crowds(), tree.Leaks(), tree.Writers()), nil
	}
	tests := map[string]struct {
		why   string
		check func(root string) ([]rules.Fault, error)
		house string
		want  []string // the beginning of each fault
	}{
		"TestDrawsAnew": {
			why:   "A test that gates a change draws the same on every run.",
			check: layers,
			house: `
-- engine/fit/fit.go --
// Package fit decides.
package fit
-- engine/fit/fit_test.go --
package fit_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	rapid.Check(t, func(*rapid.T) {})
	rand.New(rand.NewPCG(1, 2)).IntN(3)
	rand.IntN(3)
}
`,
			want: []string{
				"engine/fit/fit_test.go:11: draws differently on every run: check with engine/enginetest/chance",
				"engine/fit/fit_test.go:13: draws differently on every run: make a source of a seed",
			},
		},
		"Crowded": {
			why:   "A newcomer takes in one package at a time, and one type.",
			check: layers,
			house: crowd("engine/fit", 15, 40) + crowd("engine/pack", 16, 41) + crowd("internal/top", 16, 41),
			want: []string{
				"engine/pack: 16 files, of at most 15",
				"engine/pack: All has 41 methods, of at most 40",
			},
		},
		"WrittenElsewhere": {
			why:   "What is bought, ended or evicted is so in one place.",
			check: layers,
			house: `
-- internal/controller/pool/pool.go --
// Package pool judges.
package pool

func (r *Reconciler) judge() {
	r.Client.Create(ctx, claim)
	r.Client.SubResource("eviction").Create(ctx, pod, eviction)
	r.Client.Get(ctx, claim)
	cache.Delete(key)
}
-- internal/enact/enact.go --
// Package enact acts.
package enact

func (e *Enact) ask() { e.Client.Create(ctx, claim) }
`,
			want: []string{
				"internal/controller/pool/pool.go:5: creates or deletes by a client",
				"internal/controller/pool/pool.go:6: creates or deletes by a client",
			},
		},
		"LeftBehind": {
			why:   "Code that starts a goroutine waits for it, and a test tells.",
			check: layers,
			house: `
-- internal/loop/loop.go --
// Package loop runs.
package loop

func Run() { go func() {}() }
-- internal/loop/loop_test.go --
package loop_test

import "testing"

func TestRun(t *testing.T) {}
-- internal/parallel/parallel.go --
// Package parallel does.
package parallel

import "sync"

func Do(wg *sync.WaitGroup) { wg.Go(func() {}) }
-- internal/parallel/leak_test.go --
package parallel_test

import _ "go.uber.org/goleak"
-- internal/trace/trace.go --
// Package trace tells.
package trace
-- internal/trace/trace_test.go --
package trace_test
`,
			want: []string{
				"internal/loop/loop.go: starts goroutines",
			},
		},
		"TooMuchAtOnce": {
			why:   "A function is read as a whole; a table is looked up.",
			check: layers,
			house: `
-- engine/fit/fit.go --
// Package fit decides.
package fit

import "context"

func Long(n int) int {
` + strings.Repeat("\tn++\n", 57) + `	return n
}

func Longer(n int) int {
` + strings.Repeat("\tn++\n", 58) + `	return n
}

func Table() []int {
	one := 1
	return []int{
` + strings.Repeat("\t\tone,\n", 60) + `	}
}

func Loop() []int {
	for {
` + strings.Repeat("\t\tprintln()\n", 60) + `	}
	return []int{}
}

func Five(_ context.Context, a, b, c int, d, e string) {}

func Six(a, b, c, d, e, f int) {}

func Unnamed(int, int, int, int, int, int) {}
-- engine/fit/large.go --
package fit
` + strings.Repeat("\n", 600) + `
`,
			want: []string{
				"engine/fit/fit.go:67: Longer has 61 lines",
				"engine/fit/fit.go:195: Loop has 65 lines",
				"engine/fit/fit.go:263: Six takes 6 arguments",
				"engine/fit/fit.go:265: Unnamed takes 6 arguments",
				"engine/fit/large.go: 602 lines",
			},
		},
		"EngineReachesOut": {
			why:   "The engine is standard library only and knows those left of it.",
			check: layers,
			house: `
-- engine/fit/fit.go --
// Package fit decides.
package fit

import (
	_ "github.com/tenon-sh/tenon/engine/world"
	_ "github.com/tenon-sh/tenon/engine/pack"
	_ "k8s.io/api/core/v1"
)
-- engine/fit/fit_test.go --
package fit_test

import (
	_ "github.com/tenon-sh/tenon/engine/enginetest"
	_ "github.com/tenon-sh/tenon/internal/catalog"
	_ "pgregory.net/rapid"
	_ "k8s.io/api/core/v1"
)
`,
			want: []string{
				"engine/fit/fit.go:6: engine/fit may not import github.com/tenon-sh/tenon/engine/pack: the engine knows no other package",
				"engine/fit/fit.go:7: engine/fit may not import k8s.io/api/core/v1: the engine is standard library only",
				"engine/fit/fit_test.go:5: engine/fit may not import github.com/tenon-sh/tenon/internal/catalog: the engine knows no other package",
				"engine/fit/fit_test.go:7: engine/fit may not import k8s.io/api/core/v1: the engine is standard library only",
			},
		},
		"AskAndGiveBackAreStrangers": {
			why:   "provision and disrupt both stand on pack and do not know each other.",
			check: layers,
			house: `
-- engine/disrupt/disrupt.go --
// Package disrupt gives back.
package disrupt

import (
	_ "github.com/tenon-sh/tenon/engine/pack"
	_ "github.com/tenon-sh/tenon/engine/provision"
)
`,
			want: []string{"engine/disrupt/disrupt.go:6: engine/disrupt may not import github.com/tenon-sh/tenon/engine/provision: "},
		},
		"ControllersAreStrangers": {
			why:   "Two controllers meet in the cluster's objects; the folders of one are one.",
			check: layers,
			house: `
-- internal/controller/drain/drain.go --
// Package drain drains.
package drain

import (
	_ "github.com/tenon-sh/tenon/internal/aws"
	_ "github.com/tenon-sh/tenon/internal/cloud"
	_ "github.com/tenon-sh/tenon/internal/controller/drain/queue"
	_ "github.com/tenon-sh/tenon/internal/controller/launch"
)
`,
			want: []string{
				"internal/controller/drain/drain.go:5: internal/controller/drain may not import github.com/tenon-sh/tenon/internal/aws: ",
				"internal/controller/drain/drain.go:8: internal/controller/drain may not import github.com/tenon-sh/tenon/internal/controller/launch: ",
			},
		},
		"SimulatorSharesNoCodeWithItsSubject": {
			why:   "A mistake in the driver must not be in what it is tested against.",
			check: layers,
			house: `
-- internal/sim/market/market.go --
// Package market sells.
package market

import _ "github.com/tenon-sh/tenon/internal/aws/fleet"
`,
			want: []string{"internal/sim/market/market.go:4: internal/sim may not import github.com/tenon-sh/tenon/internal/aws/fleet: "},
		},
		"SimulatorInTheImage": {
			why:   "What cmd/tenon reaches, by however many steps, is in the image.",
			check: layers,
			house: `
-- cmd/tenon/main.go --
// Command tenon runs.
package main

import _ "github.com/tenon-sh/tenon/internal/app"
-- internal/app/app.go --
// Package app composes.
package app

import _ "github.com/tenon-sh/tenon/internal/sim/market"
-- internal/sim/market/market.go --
// Package market sells.
package market
`,
			want: []string{
				"internal/app/app.go:4: internal/app may not import github.com/tenon-sh/tenon/internal/sim/market: ",
				"internal/app/app.go:4: github.com/tenon-sh/tenon/internal/sim/market would be linked into cmd/tenon: ",
			},
		},
		"NowhereOnTheMap": {
			why:   "An unplanned package is a question to answer first.",
			check: layers,
			house: `
-- internal/misc/misc.go --
package misc

func init() {}
`,
			want: []string{
				"internal/misc: this package stands nowhere on the map",
				`internal/misc: "misc" says nothing`,
				`internal/misc/misc.go:1: no file says what the package is: begin one with a comment "// Package misc …"`,
				"internal/misc/misc.go:3: no init",
			},
		},
		"Impure": {
			why:   "What reads the machine, or outlives the call, may differ the next time.",
			check: rules.Impure,
			house: `
-- engine/pack/pack.go --
package pack

import (
	"math"
	"sync"
	"time"
)

var seen = map[string]bool{}

var table = [2]int{1, 2}

func init() {}

func Pack(x, y, z float64, name string) float64 {
	var once sync.Once
	_ = once
	_ = time.Now()
	go Pack(x, y, z, name)
	seen[name] = true
	p := &table[0]
	*p++
	return math.Pow(x, y) + x*y + z
}
-- engine/pack/pure.go --
package pack

import (
	"math"
	"time"
)

const at = 3 * time.Second

func Pure(x, y, z float64, n int) float64 {
	seen := map[string]bool{}
	seen["a"] = seen["b"]
	_ = table[0]*table[1] + n
	return math.Sqrt(math.Floor(x)) + float64(x*y) - z + math.MaxFloat64
}
`,
			want: []string{
				"engine/pack/pack.go:5: the engine may not import sync",
				"engine/pack/pack.go:13: the engine has no init",
				"engine/pack/pack.go:18: time.Now reads the clock",
				"engine/pack/pack.go:19: the engine starts no goroutine",
				"engine/pack/pack.go:20: seen is a variable of the package and is changed here",
				"engine/pack/pack.go:21: table is a variable of the package and is changed here",
				"engine/pack/pack.go:23: x*y+z of floats",
				"engine/pack/pack.go:23: math.Pow may differ",
			},
		},
		"Floats": {
			why:   "What is just enough may not be too little because of how a float was rounded.",
			check: rules.Floats,
			house: `
-- engine/money/money.go --
package money

func Double(n int64) int64 { return 2 * n }
-- engine/pack/pack.go --
package pack

import (
	"cmp"
	"fmt"
	"slices"
)

const half = 0.5

func Pack(x, y float64) int64 {
	if x > y {
		return int64(x)
	}
	slices.SortFunc([]float64{x, y}, func(a, b float64) int { return cmp.Compare(a, b) })
	fmt.Println(min(x, y), x == half)
	return 0
}

func Exact(x float64, n int64) float64 {
	fmt.Println(x/2, min(n, 3), n < 2, cmp.Compare(n, 1), half > 0.1, int64(4*half))
	return float64(n) * x
}
-- engine/solve/solve.go --
package solve

func Guide(x, y float64) bool { return x < y }
`,
			want: []string{
				"engine/pack/pack.go:12: compares floats",
				"engine/pack/pack.go:13: makes an integer of a float",
				"engine/pack/pack.go:15: compares floats",
				"engine/pack/pack.go:16: compares floats",
				"engine/pack/pack.go:16: compares floats",
				"engine/money/money.go: compares no floats",
			},
		},
		"Rooms": {
			why:   "Files of a package depend on each other one way, and a packing is changed by its verbs.",
			check: rules.Rooms,
			house: `
-- go.mod --
module github.com/tenon-sh/tenon

go 1.26
-- engine/spread/spread.go --
package spread

type Ledger struct{ n int }

func (l *Ledger) Put(n int) { l.n += n }
func (l *Ledger) Counts() int { return l.n }
-- engine/packing/types.go --
package packing

import "github.com/tenon-sh/tenon/engine/spread"

type Bin struct {
	Pods   []string
	Closed bool
}

type Packing struct{ Ledger *spread.Ledger }
-- engine/packing/bin.go --
package packing

func (k *Packing) Join(b *Bin, pod string) {
	b.Pods = append(b.Pods, pod)
	k.Ledger.Put(1)
}
-- engine/repair/a.go --
package repair

func A(n int) int {
	if n == 0 {
		return 0
	}
	return B(n - 1)
}
-- engine/repair/b.go --
package repair

import "github.com/tenon-sh/tenon/engine/packing"

func B(n int) int { return A(n) }

func C(k *packing.Packing, b *packing.Bin) int {
	k.Join(b, "a")
	b.Closed = true
	b.Pods = nil
	k.Ledger.Put(1)
	return k.Ledger.Counts()
}
-- engine/repair/c.go --
package repair

var D = B
-- internal/aws/launch/a.go --
package launch

type A struct{ b B }
-- internal/aws/launch/b.go --
package launch

type B struct{ a *A }
`,
			want: []string{
				"engine/repair/a.go:7: B is declared in b.go",
				"engine/repair/b.go:5: A is declared in a.go",
				"engine/repair/b.go:10: Bin.Pods is assigned",
				"engine/repair/b.go:11: Ledger.Put: a packing is changed",
				"internal/aws/launch/a.go:3: B is declared in b.go",
				"internal/aws/launch/b.go:3: A is declared in a.go",
			},
		},
		"Differences": {
			why:   "What differs from Karpenter on purpose is shown by a test that names it.",
			check: rules.Differences,
			house: "-- docs/adr/0009-compatibility.md --\n| # | Karpenter | Tenon |\n|---|---|---|\n| D-1 | a | b |\n| D-2 | a | b |\n| T-3 | D-4 | b |\n| D-7 | a | b |\n| D-17 | a | b |\n" +
				"-- engine/fit/fit_test.go --\npackage fit\n\n// So it is (D-1, D-17).\n-- engine/fit/fit.go --\npackage fit // D-2\n-- engine/pack/testdata/scenarios/a --\n# (T-3) It is so.\n-- internal/a.txt --\nD-2\n",
			want: []string{
				"docs/adr/0009-compatibility.md:4: no test names D-2",
				"docs/adr/0009-compatibility.md:7: D-17 is shown by a test",
			},
		},
		"Words": {
			why:   "The text of the project is finished, plain and true of the tree, and speaks of no machine of its own.",
			check: rules.Words,
			house: "-- docs/a.md --\nGood, [here](b.md#x), [there](../no.md), [out](https://example.com), [up](../Makefile).\nTO" + "DO: better.\ncd /wo" + "rk/main\nNobo" + "dy waits; it is decided an" + "ew.\n`engine/fit` has `engine/fit.Rule`; there is no `engine/none` and no `engine/fit.None`.\n-- engine/fit/rule.go --\npackage fit\n\ntype Rule struct{}\n-- Makefile --\nx:\n\tGOPROXY=https://proxy.go" + "lang.org go build\n-- testdata/x.md --\nTO" + "DO\n",
			want: []string{
				`Makefile:2: "proxy.go` + `lang.org": the host`,
				"docs/a.md:1: the link to b.md#x leads nowhere",
				"docs/a.md:1: the link to ../no.md leads nowhere",
				`docs/a.md:2: "TO` + `DO": unfinished`,
				`docs/a.md:3: "/wo` + `rk/": a path of one machine`,
				`docs/a.md:4: "Nobo` + `dy": pods, nodes and programs are not persons`,
				`docs/a.md:4: "an` + `ew.": an old word`,
				"docs/a.md:5: there is no engine/none",
				"docs/a.md:5: engine/fit has no None",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			faults, err := tc.check(build(t, tc.house))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, f := range faults {
				line := f.String()
				if i < len(tc.want) && strings.HasPrefix(line, tc.want[i]) {
					line = tc.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got)\n%s", tc.why, diff)
			}
		})
	}
}

// crowd is a package with so many files, and a type in it with so many methods.
func crowd(dir string, files, methods int) string {
	name := path.Base(dir)
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s/%s.go --\n// Package %s is one.\npackage %s\n\ntype All[T any] struct{}\n", dir, name, name, name)
	for i := range methods {
		fmt.Fprintf(&b, "\nfunc (a *All[T]) m%d() {}\n", i)
	}
	for i := range files - 1 {
		fmt.Fprintf(&b, "-- %s/f%d.go --\npackage %s\n", dir, i, name)
	}
	fmt.Fprintf(&b, "-- %s/%s_test.go --\npackage %s\n", dir, name, name)
	return b.String()
}

// build writes a house, given as a txtar archive, and returns its folder.
func build(t *testing.T, house string) string {
	t.Helper()
	dir := t.TempDir()
	archive := txtar.Parse([]byte(house))
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: []byte("module " + rules.Module + "\n\ngo 1.26\n")})
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
