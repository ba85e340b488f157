package hold_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

const now = 1_000_000

// kept are Worlds in which machine n is kept by each kind of hold, by its code.
func kept() map[reason.Code]func(*scene) {
	return map[reason.Code]func(*scene){
		reason.Foreign:      func(s *scene) { s.claim = nil; s.node.Claim = "" },
		reason.Deleting:     func(s *scene) { s.claim.Deleting = true },
		reason.Starting:     func(s *scene) { s.claim.Initialized = false },
		reason.DoNotDisrupt: func(s *scene) { s.node.DoNotDisrupt = true },
		reason.Promised:     func(s *scene) { s.planned = []string{"n"} },
		reason.Alone:        func(s *scene) { s.pod.Disruption.Alone = true },
		reason.Guarded:      func(s *scene) { s.allowed = []int{0} },
		reason.Policy:       func(s *scene) { s.pool.Disruption.EmptyAfter = nil },
		reason.Static:       func(s *scene) { three := 3; s.pool.Replicas = &three },
		reason.TooSoon:      func(s *scene) { s.claim.LastPodEvent = now - 5 },
		reason.Budget:       func(s *scene) { s.pool.Disruption.Budgets = []world.Budget{{Nodes: "0"}} },
		reason.InUse:        func(*scene) {},
	}
}

// scene is a node with a pod, in a pool that gives empty nodes back after a minute.
type scene struct {
	node    world.Node
	claim   *world.Claim
	pool    world.Pool
	pod     world.Pod
	absent  bool       // there is no node
	waits   *world.Pod // a pod that waits
	allowed []int      // by each disruption budget that guards all pods
	planned []string
}

func tell(t *testing.T, change func(*scene)) (*hold.Book, *world.Place) {
	t.Helper()
	id, minute := world.PoolID{Kind: world.NodePool, Name: "p"}, int64(60)
	s := &scene{
		node:  world.Node{Name: "n", Claim: "c", Pool: id, Ready: true},
		claim: &world.Claim{Name: "c", Node: "n", Pool: id, Launched: true, Registered: true, Initialized: true, InitializedAt: now - 3600},
		pool:  world.Pool{ID: id, Disruption: world.PoolDisruption{EmptyAfter: &minute}},
		pod:   world.Pod{Key: world.Key{Namespace: "d", Name: "a"}, Node: "n"},
	}
	change(s)
	b := world.NewBuilder()
	errs := []error{b.SetPool(s.pool), b.SetPod(s.pod)}
	if !s.absent {
		errs = append(errs, b.SetNode(s.node))
	}
	if s.waits != nil {
		errs = append(errs, b.SetPod(*s.waits))
	}
	if s.claim != nil {
		errs = append(errs, b.SetClaim(*s.claim))
	}
	for i, n := range s.allowed {
		errs = append(errs, b.SetGuard(world.Guard{Key: world.Key{Namespace: "d", Name: string(rune('g' + i))}, Selector: world.Selector{Some: true}, Allowed: n}))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(now)
	return hold.Open(w, s.planned), w.Place("n")
}

// Every hold that package hold can find has words of its own.
func TestEveryHoldHasWords(t *testing.T) {
	scenes, told, said := kept(), toldByScenarios(t), map[string]reason.Code{}
	for _, code := range codes(t) {
		detail := told[code]
		if scenes[code] != nil {
			detail = keptBy(t, code, scenes[code])
		} else if detail == "" {
			t.Errorf("hold.go yields holds of code %s, of which no scenario of consolidation keeps a node, nor a World of this test: have one of them, with words of its own in Words", code)
			continue
		}
		if other, twice := said[detail]; detail == "" || detail == string(code) || twice {
			t.Errorf("%s has no words of its own in Words, hold.go: %q, as %q", code, detail, other)
		}
		said[detail] = code
	}
}

// keptBy says in words how a machine is kept in a World in which it is kept by a hold of the code.
func keptBy(t *testing.T, code reason.Code, change func(*scene)) string {
	t.Helper()
	book, n := tell(t, change)
	holds := book.Empty(n)
	i := slices.IndexFunc(holds, func(h hold.Hold) bool { return h.Code == code })
	if i < 0 {
		t.Errorf("the machine is kept by %v, want %s among it", holds, code)
		return "nothing for " + string(code)
	}
	why := book.Why(n, holds[i])
	if why.Subject == "" {
		t.Errorf("it is not said what %s is of", code)
	}
	return why.Detail
}

// toldByScenarios is how scenarios of consolidation say that nodes are kept, by code.
func toldByScenarios(t *testing.T) map[reason.Code]string {
	t.Helper()
	files, err := filepath.Glob("../consolidate/testdata/scenarios/*")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scenarios: ", err)
	}
	line := regexp.MustCompile(`(?m)^(?:keep | +)\S+: ([a-z-]+) \((.*)\)(?: → .*)?$`)
	out := map[reason.Code]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range line.FindAllStringSubmatch(string(text), -1) {
			out[reason.Code(found[1])] = found[2]
		}
	}
	return out
}

// codes are those that hold.go gives to holds.
func codes(t *testing.T) []reason.Code {
	t.Helper()
	values := map[string]reason.Code{} // of the constants of package reason, by name
	inspect(t, "../../reason/reason.go", func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				values[spec.Names[0].Name] = reason.Code(text)
			}
		}
	})
	var out []reason.Code
	inspect(t, "hold.go", func(n ast.Node) {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		of, ok := kv.Value.(*ast.SelectorExpr)
		if key, named := kv.Key.(*ast.Ident); !ok || !named || key.Name != "Code" {
			return
		}
		if code := values[of.Sel.Name]; code != "" && !slices.Contains(out, code) {
			out = append(out, code)
		}
	})
	for code := range kept() {
		if !slices.Contains(out, code) {
			t.Errorf("this test has a World kept by %s, of which hold.go has no hold", code)
		}
	}
	return out
}

// inspect looks at all of a file.
func inspect(t *testing.T, name string, look func(ast.Node)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool { look(n); return true })
}

// What moves with every look is not in the words: an event is told again when they change.
func TestWordsHoldStill(t *testing.T) {
	of := func(started int64) string {
		book, n := tell(t, func(s *scene) { s.pod.Disruption.ForbiddenFor, s.pod.Started = 600, started })
		return book.Why(n, book.Any(n)[0]).Detail
	}
	if got := of(now - 60); !strings.HasSuffix(got, "until 1970-01-12T13:55:40Z") {
		t.Errorf("%q does not say until when", got)
	}
}

// The words say what keeps the machine, and who could end that.
func TestWords(t *testing.T) {
	for name, tc := range map[string]struct {
		why    string
		change func(*scene)
		want   string // how the first of what keeps it is told
	}{
		"ForGood":     {"No end is known.", func(s *scene) { s.pod.Disruption.Forbidden = true }, "d/a: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt) → take the annotation off"},
		"Guarded":     {"One budget guards it.", func(s *scene) { s.allowed = []int{0} }, "d/a: pod-disruption-budget (PodDisruptionBudget d/g allows no eviction now) → run more replicas than it needs, or wait until all are healthy"},
		"Guards":      {"Two do.", func(s *scene) { s.allowed = []int{1, 1} }, "d/a: pod-disruption-budget (PodDisruptionBudgets d/g and d/h both guard it, and the API server evicts no such pod) → have only one of them select the pod"},
		"Never":       {"A NodePool says it so.", func(s *scene) { s.pool.Disruption.EmptyAfter = nil }, "n: policy (NodePool p gives no empty node back: consolidateAfter is Never) → set consolidateAfter"},
		"Provisioner": {"A Provisioner has other fields.", provisioner, "n: policy (Provisioner p gives no empty node back: neither consolidation.enabled nor ttlSecondsAfterEmpty is set) → set consolidation.enabled: true, or ttlSecondsAfterEmpty for empty nodes alone"},
		"Budget": {"It is counted what may go and what goes.", func(s *scene) {
			bare(s)
			s.node.Ready = false
			s.pool.Disruption.Budgets = []world.Budget{{Nodes: "1"}}
		}, "n: disruption-budget (its pool's budgets allow 1 of 1 node to be disrupted at once (already disrupting or not ready: 1)) → wait, or widen spec.disruption.budgets"},
	} {
		t.Run(name, func(t *testing.T) {
			book, n := tell(t, tc.change)
			holds := book.Empty(n)
			if len(holds) == 0 {
				t.Fatalf("%s Nothing keeps it.", tc.why)
			}
			if diff := cmp.Diff(tc.want, book.Why(n, holds[0]).Line()); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// provisioner has the pool be one of the older kind, which gives nothing back.
func provisioner(s *scene) {
	s.pool.ID.Kind, s.pool.Disruption.EmptyAfter = world.Provisioner, nil
	s.claim.Pool, s.node.Pool = s.pool.ID, s.pool.ID
}

// A span is written without what is nothing.
func TestSpan(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0s", 30: "30s", 60: "1m", 90: "1m30s", 3600: "1h", 3660: "1h1m", 720 * 3600: "720h", 3601: "1h0m1s"} {
		if got := hold.Span(seconds); got != want {
			t.Errorf("%d seconds are %q, want %q", seconds, got, want)
		}
	}
}

// A pool that has no pods moved says so by one name, whatever it is.
func TestUnmoved(t *testing.T) {
	minute := int64(60)
	for name, tc := range map[string]struct {
		why    string
		change func(*scene)
		want   string
	}{
		"Moves":  {"The pool has pods moved.", func(s *scene) { s.pool.Disruption.MoveAfter = &minute }, ""},
		"Empty":  {"It gives back empty nodes only.", func(*scene) {}, "n: policy (pool p gives only empty nodes back) → set consolidationPolicy: WhenEmptyOrUnderutilized"},
		"Static": {"Its number is fixed.", func(s *scene) { three := 3; s.pool.Replicas = &three }, "n: static-pool (NodePool p is static and keeps 3 nodes) → lower its replicas"},
		"Never":  {"It gives nothing back.", func(s *scene) { s.pool.Disruption.EmptyAfter = nil }, "n: policy (pool p gives nothing back by choice) → set consolidateAfter"},
		"Gone":   {"There is no such pool.", func(s *scene) { s.pool.ID.Name = "q" }, "n: policy (its pool is gone, so nothing says when it may be given back)"},
		"None":   {"It never had a pool.", func(s *scene) { s.claim.Pool, s.node.Pool = world.PoolID{}, world.PoolID{} }, "n: policy (it was made without a pool, and nodes are given back only as their pools say) → delete its NodeClaim if it is not needed"},
		"Only":   {"It has pods moved, whenever its empty nodes go.", func(s *scene) { s.pool.Disruption.MoveAfter, s.pool.Disruption.EmptyAfter = &minute, nil }, ""},
		"Both":   {"It is empty, and in a pool that has pods moved.", func(s *scene) { s.pod.DaemonSet = "log"; s.pool.Disruption.MoveAfter = &minute }, ""},
		"Alone":  {"It is empty itself.", func(s *scene) { s.pod.DaemonSet = "log" }, "n: empty (it is empty, and is removed once consolidateAfter and its pool's budgets allow)"},
	} {
		t.Run(name, func(t *testing.T) {
			book, n := tell(t, tc.change)
			if why := book.Unmoved(n); (why == nil) != (tc.want == "") || why != nil && why.Line() != tc.want {
				t.Errorf("%s got %s, want %s", tc.why, why, tc.want)
			}
		})
	}
}

// What is given back by a decision counts against the budgets of what it decides next.
func TestGivenCounts(t *testing.T) {
	book, n := tell(t, func(*scene) {})
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	before := book.Room(&world.Pool{ID: pool}, plan.Empty).Going
	if book.Give(n); book.Room(&world.Pool{ID: pool}, plan.Empty).Going != before+1 || !book.Given(n) {
		t.Error("it does not count")
	}
}
