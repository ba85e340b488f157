package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A layer says what the packages in and below one folder may import beside the
// standard library and each other. The innermost layer that covers a package
// is the one that counts. A star stands for any one folder: the packages below
// one such folder know each other, those below two do not.
type layer struct {
	at   string
	own  []string // folders of this module; /... means all below as well
	libs []string // modules or packages of others, with all below
	not  []string // folders that own would allow and that are forbidden
	why  string   // said when own is violated
}

const (
	kubeTypes  = "k8s.io/api k8s.io/apimachinery"
	kube       = kubeTypes + " k8s.io/client-go k8s.io/utils k8s.io/klog/v2 k8s.io/apiextensions-apiserver sigs.k8s.io/controller-runtime sigs.k8s.io/json sigs.k8s.io/yaml github.com/go-logr/logr"
	prometheus = "github.com/prometheus"
	aws        = "github.com/aws/aws-sdk-go-v2 github.com/aws/smithy-go"
	limits     = "golang.org/x/time golang.org/x/sync"
	cli        = "github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term"

	ground   = "engine/amount engine/money engine/label engine/reason"
	world    = ground + " engine/world"
	meter    = "internal/clock internal/metric internal/panics"
	pureAWS  = "internal/aws/types internal/aws/kubelet internal/aws/nodeclass" // arithmetic on values, without the SDK
	everyone = "api/... engine/... internal/... cmd/..."

	filters = world + " engine/fit engine/spread/..."
	bins    = filters + " engine/market engine/plan engine/packing"
	solver  = "engine/solve engine/solve/problem" // what the others know of it
	packers = bins + " " + solver + " engine/bind engine/exact engine/search engine/repair engine/menu engine/refuse"

	modelled = "engine/solve/problem engine/solve/model"

	knowsNoOther = "the engine knows no other package: what it needs comes in as a value of engine/world"
	noDriver     = "only internal/app knows drivers: use the seam, internal/cloud"
)

// layers is the map of the house, from the inside out. ARCHITECTURE.md draws it.
func layers() []layer {
	engine := func(at, own string) layer { return layer{at: at, own: list(own), why: knowsNoOther} }
	return []layer{
		engine("engine/amount", ""),
		engine("engine/money", ""),
		engine("engine/label", "engine/amount"),
		engine("engine/reason", "engine/amount engine/label"),
		engine("engine/world", ground),
		engine("engine/device", world),
		engine("engine/fit", world+" engine/device"),
		engine("engine/spread", world+" engine/fit"),
		engine("engine/plan", filters),
		engine("engine/nominate", filters+" engine/plan"),
		engine("engine/solve", ""),
		engine("engine/solve/problem", ""),
		engine("engine/solve/model", "engine/solve/problem"),
		engine("engine/solve/firstfit", modelled),
		engine("engine/solve/exact", modelled),
		engine("engine/solve/relax", modelled),
		engine("engine/solve/proof", modelled+" engine/solve/exact engine/solve/relax"),
		engine("engine/solve/pattern", modelled+" engine/solve/relax engine/solve/proof"),
		engine("engine/solve/integer", modelled+" engine/solve/relax engine/solve/proof"),
		engine("engine/solve/block", modelled+" engine/solve/relax engine/solve/proof engine/solve/pattern"),
		engine("engine/solve/fill", modelled+" engine/solve/firstfit engine/solve/relax"),
		engine("engine/solve/improve", modelled+" engine/solve/relax engine/solve/fill"),
		engine("engine/market", world+" engine/fit"),
		engine("engine/packing", world+" engine/device engine/fit engine/spread/... engine/market engine/plan"),
		engine("engine/bind", bins),
		engine("engine/exact", bins),
		engine("engine/search", bins+" "+solver+" engine/exact"),
		engine("engine/repair", bins+" "+solver+" engine/nominate engine/bind engine/exact"),
		engine("engine/menu", bins),
		engine("engine/refuse", bins),
		engine("engine/pack", packers),
		engine("engine/whatif", packers),
		engine("engine/provision", packers+" engine/pack"),
		engine("engine/disrupt", packers+" engine/pack engine/whatif"),
		engine("engine/static", packers+" engine/pack engine/whatif engine/disrupt/..."),
		engine("engine/suppose", filters+" engine/plan"),
		engine("engine/explain", packers+" engine/pack engine/provision engine/disrupt/... engine/static engine/whatif engine/suppose"),
		{at: "engine/enginetest", own: list("engine/..."), libs: testLibs(), why: knowsNoOther},

		{
			at: "api", libs: list(kubeTypes + " sigs.k8s.io/controller-runtime/pkg/scheme"),
			why: "the API is data that others import; it knows no other package",
		},

		{at: "internal/clock"},
		{at: "internal/backoff", why: "how long something waits says nothing about what"},
		{at: "internal/parallel", libs: list("github.com/sourcegraph/conc"), why: "how much is done at once says nothing about what"},
		{at: "internal/written", libs: list("k8s.io/apimachinery"), why: "every writer of objects uses it, so it knows nothing but their names and versions"},
		{at: "internal/metric", libs: list(prometheus)},
		{at: "internal/trace", own: list("internal/metric"), why: "spans are made of times and names, and of nothing that could be asked for more"},
		{at: "internal/panics", own: list("internal/metric"), libs: list("github.com/go-logr/logr"), why: "whatever may break uses it, so it knows nothing but the counter"},
		{
			at: "internal/annotation", own: list(world + " api/..."), why: "what objects keep as text is written and read in one place",
		},
		{
			at: "internal/observe", own: list(world + " api/... internal/annotation"), libs: list(kubeTypes),
			why: "observe turns one object into one value, without a client",
		},
		{
			at: "internal/observe/device", own: list(world + " api/..."), libs: list(kubeTypes + " k8s.io/dynamic-resource-allocation/cel"),
			why: "selectors of devices are evaluated by the library that kube-scheduler uses, and nowhere else",
		},
		{
			at: "internal/cluster", own: list(world + " engine/plan api/... internal/observe internal/observe/device internal/written " + meter), libs: list(kube + " " + limits),
			why: "the cluster state is filled by observe and by what internal/app passes in; it asks neither cloud nor driver",
		},
		{
			at: "internal/wording", own: list(world + " engine/fit engine/spread engine/plan"),
			why: "wording makes sentences of decisions; it looks nothing up",
		},
		{
			at: "internal/enact", own: list(world + " engine/plan engine/nominate api/... internal/annotation internal/observe internal/cluster internal/wording internal/parallel internal/backoff " + meter), libs: list(kube + " " + prometheus),
			why: "enact carries out a plan and decides nothing",
		},
		{at: "internal/cloud", own: list(world + " " + meter), libs: list(limits + " " + prometheus), why: "the seam knows no driver and no Kubernetes"},
		{at: "internal/cloudtest", own: list(world + " internal/cloud " + meter), libs: testLibs(), why: "the law holds for every driver, so it knows none"},
		{at: "internal/catalog", own: list(world), why: "the catalogue is data for drivers, the simulator and the command line"},
		{
			at: "internal/aws", own: list(world + " api/... internal/cloud internal/catalog internal/parallel internal/backoff " + meter),
			libs: list(aws + " " + kubeTypes + " " + limits + " sigs.k8s.io/yaml github.com/pelletier/go-toml/v2 github.com/go-logr/logr " + prometheus),
			why:  "a driver answers the seam; it does not know its callers",
		},
		{
			at: "internal/aws/expression", own: list("internal/aws/kubelet"), libs: list("github.com/google/cel-go"),
			why: "expressions in kubelet settings are CEL, as Karpenter's are; what they are for is not known here",
		},
		{
			at: "internal/sim", own: list("engine/... internal/cloud internal/catalog " + meter), libs: list(limits + " github.com/go-logr/logr"),
			why: "the simulator shares no code with the driver that is tested against it",
		},
		{
			at: "internal/sim/day", own: list("engine/... internal/cloud internal/catalog internal/controller/terminate internal/sim/... internal/statemetrics " + meter),
			why: "a day is made of what decides and of nothing that acts, and its series are counted",
		},
		{
			at: "internal/sim/volumes", own: list("internal/clock"), libs: list(kube),
			why: "the storage driver is one of the cluster's own, and knows neither cloud nor engine",
		},
		{
			at: "internal/sim/devices", own: list("api/..."), libs: list(kube),
			why: "the drivers of devices are the cluster's own, and know neither cloud nor engine",
		},
		{
			at: "internal/sim/kubelet", own: list("api/... engine/... internal/cloud internal/catalog internal/sim/... " + meter), libs: list(kube + " " + limits + " github.com/pelletier/go-toml/v2"),
			why: "the simulator shares no code with the driver that is tested against it",
		},
		{at: "internal/kube", why: "running the control plane binary needs no library"},
		{
			at: "internal/apitest", own: list("api/... engine/world internal/clock internal/cloud internal/cluster internal/loop"), libs: list(kube),
			why: "a store for tests knows objects and nothing of what is done with them",
		},
		{
			at: "internal/kubetest", own: list("api/... internal/clock internal/kube"), libs: list(kube + " go.uber.org/goleak"), // every Main looks for leaks
			why: "tests of every package use it, so it knows none of them",
		},
		{
			at: "internal/playground", own: list("api/... engine/... charts deploy/aws internal/kube internal/catalog internal/cloud internal/sim/... internal/cli/verb " + meter), libs: list(kube + " " + limits + " " + cli),
			why: "the playground runs Kubernetes and simulated machines; the product it runs as a child process",
		},
		{at: "internal/lead", own: list("internal/clock"), libs: list(kube), why: "which replica acts is decided without a look at what is done"},
		{at: "internal/scrub", own: list(world), why: "names are changed in a World, for any caller"},
		{at: "internal/webhook", own: list("api/... internal/clock"), libs: list(kube), why: "the webhook judges one object at a time and knows nothing of the cluster"},
		{
			at:   "internal/statemetrics",
			own:  list("api/... engine/... internal/cluster " + meter),
			libs: list(kubeTypes),
			why:  "metrics of the state are made of what is seen and nothing else is asked",
		},
		{at: "internal/journal", own: list("engine/... " + meter), not: list("engine/enginetest"), why: "the journal keeps worlds and plans and does not act on them"},
		{at: "internal/record", own: list("engine/... internal/journal internal/scrub " + meter), not: list("engine/enginetest"), why: "a recording keeps what the journal received and does not act on it"},
		{at: "internal/loop", own: list(world + " engine/plan api/... internal/written " + meter), libs: list(kube + " " + prometheus + " golang.org/x/time"), why: "loop is what every reconciler shares and none in particular"},
		{
			at:   "internal/controller/*",
			own:  list("api/... engine/... internal/annotation internal/observe internal/cluster internal/enact internal/cloud internal/journal internal/loop internal/parallel internal/backoff internal/wording " + meter),
			not:  list("engine/enginetest"),
			libs: list(kube + " " + limits + " " + prometheus),
			why:  "controllers are strangers to each other and to drivers; they meet in the cluster's objects and in internal/app",
		},
		{
			at:   "internal/web",
			own:  list("api/... engine/... internal/observe internal/cluster internal/cloud internal/catalog internal/journal " + meter),
			libs: list(kube + " " + prometheus),
			why:  "the dashboard only reads",
		},
		{
			at: "internal/extension", own: list("engine/provision engine/world internal/journal internal/scrub internal/web/... internal/clock"),
			libs: list(kube), why: "it tells callers apart, and what they are told is made by the dashboard",
		},
		{
			at: "internal/cli", own: list("internal/cli/... internal/clock"), libs: list(cli),
			why: "the tree of verbs knows the verbs, and they know the rest",
		},
		{
			at:   "internal/cli/*",
			own:  list("api/... engine/... internal/observe internal/observe/device internal/cluster internal/cloud internal/catalog internal/journal internal/record internal/cli/verb internal/cli/snapshot internal/cli/page " + pureAWS + " " + meter),
			libs: list(cli + " " + kube),
			why:  "a verb that looks changes nothing: it knows no writer, no driver and no controller",
		},
		{at: "internal/cli/page", own: list("internal/cli/verb"), why: "a page says what it is given"},
		{
			at: "internal/cli/convert", own: list("api/... internal/cli/verb internal/cli/snapshot internal/clock"), libs: list(cli + " " + kube),
			why: "convert rewrites objects of the API, when it is told to in a cluster; it decides nothing and knows no controller",
		},
		{
			at: "internal/cli/record", own: list("engine/amount internal/journal internal/record internal/scrub internal/clock internal/cli/verb internal/cli/snapshot"), libs: list(cli),
			why: "a verb that looks changes nothing: it knows no writer, no driver and no controller",
		},
		{at: "internal/cli/estimate", own: list("engine/... internal/journal internal/web/live"), why: "what decisions come to is worked out of them alone"},
		{
			at: "internal/cli/replay", own: list("engine/... internal/parallel internal/journal internal/record internal/scrub internal/clock internal/cli/verb internal/cli/snapshot internal/cli/page internal/cli/estimate"), libs: list(cli),
			why: "a verb that looks changes nothing: it knows no writer, no driver and no controller",
		},
		{
			at: "internal/cli/report", own: list(ground + " charts internal/journal engine/plan engine/world internal/scrub internal/record internal/web/live internal/clock internal/cli/verb internal/cli/snapshot internal/cli/page internal/cli/estimate"), libs: list(cli + " " + kube),
			why: "a verb that looks changes nothing: it knows no writer, no driver and no controller",
		},
		{
			at: "internal/top", own: list(ground + " internal/web/live internal/clock"), libs: list("charm.land/bubbletea/v2 github.com/charmbracelet/x/ansi k8s.io/apimachinery/pkg/labels"),
			why: "what is shown in a terminal comes by the HTTP API of the live page alone",
		},
		{
			at: "internal/cli/top", own: list("engine/provision engine/world internal/clock internal/journal internal/panics internal/cli/verb internal/cli/snapshot internal/top/... internal/web/..."),
			libs: list(cli + " charm.land/bubbletea/v2 k8s.io/apimachinery/pkg/labels"),
			why:  "a verb that looks changes nothing: it knows no writer, no driver and no controller",
		},
		{at: "internal/cli/controller", own: list("api/... engine/... internal/app internal/trace internal/lead internal/cli/verb " + meter), libs: list(cli + " " + kube), why: "internal/app puts the system together"},
		{at: "internal/cli/doctor", own: list(everyone + " charts"), not: list("internal/enact internal/controller/... internal/sim/..."), libs: list(cli + " " + kube), why: "doctor looks and does not write"},
		{at: "internal/app", own: list(everyone), not: list("internal/sim/... internal/playground internal/kube internal/kubetest internal/apitest internal/cloudtest internal/cli/... engine/enginetest"), libs: nil, why: "the product holds no simulator and no test"},
		{at: "internal/rules", libs: list("golang.org/x/tools"), why: "the rules read source, they do not use it"},

		{at: "deploy/aws", why: "what an account needs is data; it is written by tools/deploy"},
		{at: "charts", why: "the charts are data; what is made of the code is written by tools/charts"},
		{at: "cmd/*", own: list(everyone), why: "a command is for people, not for packages"},
		{at: "tools/*", own: list(everyone + " charts/..."), why: "a tool is for people, not for packages"},
		{at: "test", own: list(everyone + " test/...")},
	}
}

// free layers may import any library: they are where everything meets.
func free(at string) bool {
	return slices.Contains([]string{"internal/app", "cmd/*", "tools/*", "test"}, at)
}

// testLibs are the libraries that tests of the engine may use.
func testLibs() []string {
	return list("pgregory.net/rapid github.com/cockroachdb/datadriven github.com/google/go-cmp github.com/rogpeppe/go-internal")
}

// image is what `tenon` is built from; it must not hold what is for playing and testing.
const image = "cmd/tenon"

func notInImage() []string {
	return list("internal/playground internal/sim/... internal/kube internal/kubetest internal/apitest internal/cloudtest internal/rules engine/enginetest test/... tools/...")
}

// Layers finds every import that the map does not allow.
func (t *Tree) Layers() []Fault {
	var faults []Fault
	for _, p := range t.Packages {
		l, unit, ok := layerOf(p.Dir)
		if !ok {
			faults = append(faults, Fault{File: p.Dir, Why: "this package stands nowhere on the map: give it a line in internal/rules/layers.go, or move it"})
			continue
		}
		for _, f := range p.Files {
			for _, i := range f.Imports {
				if why := l.refuse(unit, f, i); why != "" {
					faults = append(faults, Fault{f.Path, i.Line, fmt.Sprintf("%s may not import %s: %s", unit, i.Path, why)})
				}
			}
		}
	}
	return append(faults, t.imageFaults()...)
}

// refuse says why f of unit may not have the import i, or nothing.
func (l layer) refuse(unit string, f File, i Import) string {
	inEngine := strings.HasPrefix(unit, "engine/")
	switch {
	case i.Std:
		return ""
	case i.Own != "":
		switch {
		case below(i.Own, unit):
			return ""
		case f.Test && !inEngine:
			return "" // a test may build the world it needs
		case f.Test && below(i.Own, "engine"):
			return ""
		case matches(i.Own, l.own) && !matches(i.Own, l.not):
			return ""
		}
		return l.why
	case free(l.at), under(i.Path, l.libs):
		return ""
	case f.Test && (!inEngine || under(i.Path, testLibs())):
		return ""
	case inEngine:
		return "the engine is standard library only"
	}
	return "this layer does not use that library; decide it outside and bring it in as a value, or change internal/rules/layers.go and say why"
}

// imageFaults finds what the image must not hold, and by which way it came in.
func (t *Tree) imageFaults() []Fault {
	byDir := map[string]Package{}
	for _, p := range t.Packages {
		byDir[p.Dir] = p
	}
	var faults []Fault
	seen := map[string]bool{image: true}
	for queue := []string{image}; len(queue) > 0; queue = queue[1:] {
		for _, f := range byDir[queue[0]].Files {
			for _, i := range f.Imports {
				if f.Test || i.Own == "" || seen[i.Own] {
					continue
				}
				seen[i.Own] = true
				queue = append(queue, i.Own)
				if matches(i.Own, notInImage()) {
					faults = append(faults, Fault{f.Path, i.Line, i.Path + " would be linked into " + image + ": the image holds no simulator, no process runner and no test"})
				}
			}
		}
	}
	return faults
}

// layerOf returns the innermost layer that covers dir and the folder of dir
// that it stands for.
func layerOf(dir string) (found layer, unit string, ok bool) {
	for _, l := range layers() {
		u, covers := cover(l.at, dir)
		if !covers {
			continue
		}
		exact := !strings.Contains(l.at, "*")
		if !ok || len(u) > len(unit) || len(u) == len(unit) && exact {
			found, unit, ok = l, u, true
		}
	}
	return found, unit, ok
}

// cover reports whether dir is the folder at or below it, and which folder that
// is when at ends in a star.
func cover(at, dir string) (unit string, ok bool) {
	parent, star := strings.CutSuffix(at, "/*")
	if !star {
		return at, below(dir, at)
	}
	rest, ok := strings.CutPrefix(dir, parent+"/")
	if !ok {
		return "", false
	}
	first, _, _ := strings.Cut(rest, "/")
	return path.Join(parent, first), true
}

// matches reports whether dir is one of the patterns.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if tree, all := strings.CutSuffix(p, "/..."); all {
			return below(dir, tree)
		}
		return dir == p
	})
}

// under reports whether the import path is one of libs or below it.
func under(importPath string, libs []string) bool {
	return slices.ContainsFunc(libs, func(lib string) bool { return below(importPath, lib) })
}

func below(dir, tree string) bool {
	return dir == tree || strings.HasPrefix(dir, tree+"/")
}

func list(words string) []string { return strings.Fields(words) }
