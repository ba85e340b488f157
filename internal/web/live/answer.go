package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// Answers are those of `tenon explain` and `tenon plan`, from what the controller knows: its catalogue, prices and settings.
type Answers struct {
	World   func() *world.World
	Options func() provision.Options
	Decided func() []journal.Entry
}

// notSynced is said before there is a World.
const notSynced = "the cluster state is not complete yet; try again in a moment"

// answer is what is said as data and as the command line writes it.
type answer struct {
	Format string `json:"format"`
	Answer any    `json:"answer"`
	Text   string `json:"text"`
}

// missing is an error for something that is not there, with the name that may have been meant.
func missing(kind, name string, known []string) error {
	for _, k := range known {
		if label.Near(name, k) {
			return fmt.Errorf("there is no %s %s; did you mean %s?", kind, name, k)
		}
	}
	return fmt.Errorf("there is no %s %s", kind, name)
}

// explainer asks about the World of now.
func (a Answers) explainer(w http.ResponseWriter) (*explain.Explainer, *world.World) {
	now := a.World()
	if now == nil {
		http.Error(w, notSynced, http.StatusServiceUnavailable)
		return nil, nil
	}
	return explain.New(now, a.Options()), now
}

// Node answers why a node is there, and what keeps it.
func (a Answers) Node(w http.ResponseWriter, r *http.Request) {
	e, now := a.explainer(w)
	if e == nil {
		return
	}
	name := r.PathValue("name")
	n, ok := e.Node(name)
	if !ok {
		names := make([]string, 0, len(now.Places()))
		for _, p := range now.Places() {
			names = append(names, p.Name())
		}
		http.Error(w, missing("node", name, names).Error(), http.StatusNotFound)
		return
	}
	write(w, answer{explain.Format, n, n.Text(true)})
}

// Pod answers where a pod is to run, or why nowhere.
func (a Answers) Pod(w http.ResponseWriter, r *http.Request) {
	e, now := a.explainer(w)
	if e == nil {
		return
	}
	key := world.Key{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	p, ok := e.Pod(key)
	if !ok {
		var names []string
		for _, p := range now.Pods() {
			if p.Namespace == key.Namespace {
				names = append(names, p.String())
			}
		}
		http.Error(w, missing("pod", key.String(), names).Error(), http.StatusNotFound)
		return
	}
	write(w, answer{explain.Format, p, p.Text()})
}

// Pool answers what a pool may buy, and what is left of its limits.
func (a Answers) Pool(w http.ResponseWriter, r *http.Request) {
	e, now := a.explainer(w)
	if e == nil {
		return
	}
	name := r.PathValue("name")
	ids := e.FindPools(name)
	if len(ids) == 0 {
		var names []string
		for _, p := range now.Pools() {
			names = append(names, p.ID.Name)
		}
		http.Error(w, missing("pool", name, names).Error(), http.StatusNotFound)
		return
	}
	var texts []string
	var pools []explain.Pool
	for _, id := range ids {
		if p, ok := e.Pool(id); ok {
			pools, texts = append(pools, p), append(texts, p.Text())
		}
	}
	write(w, answer{explain.Format, pools, strings.Join(texts, "\n")})
}

// labelKeys is how many labels may be asked for at once.
const labelKeys = 64

// Labels gives the values of labels that each machine has, by its name, in the order in which the keys are given.
func (a Answers) Labels(w http.ResponseWriter, r *http.Request) {
	keys := r.URL.Query()["key"]
	if len(keys) == 0 || len(keys) > labelKeys {
		http.Error(w, fmt.Sprintf("say which labels with key=KEY, 1 to %d of them", labelKeys), http.StatusBadRequest)
		return
	}
	now := a.World()
	if now == nil {
		http.Error(w, notSynced, http.StatusServiceUnavailable)
		return
	}
	out := LabelValues{Nodes: make(map[string][]string, len(now.Places()))}
	for _, p := range now.Places() {
		labels := p.Labels()
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = labels[k]
		}
		out.Nodes[p.Name()] = values
	}
	write(w, out)
}

// LabelValues are the values of some labels; one that a machine lacks is empty.
type LabelValues struct {
	Nodes map[string][]string `json:"nodes"`
}

// WhatIf answers what would be decided if something were otherwise, and how that differs.
func (a Answers) WhatIf(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	texts := suppose.Texts{Scale: q["scale"], SoldOut: q["sold-out"], Price: q["price"], Without: q["without"]}
	changes, err := suppose.Read(texts, func(kind string) string { return kind })
	if err == nil && !texts.Any() {
		err = fmt.Errorf("say what is to be supposed: without=node/NAME, sold-out=TYPE[,ZONE[,CAPACITY-TYPE]], scale=deployment/NAMESPACE/NAME=N or price=TYPE=PRICE")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e, now := a.explainer(w)
	if e == nil {
		return
	}
	then, err := suppose.Apply(now, changes...)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	before, after := provision.Decide(now, a.Options()), provision.Decide(then, a.Options())
	d := suppose.Compare(suppose.Side{World: now, Plan: before}, suppose.Side{World: then, Plan: after})
	write(w, answer{plan.Format, WhatIf{d, after.Result(then)}, d.Text(true) + "\n" + after.Text(false)})
}

// Anew answers what the cluster would cost if all that runs now were bought at once: the least that is proven to be possible among it.
func (a Answers) Anew(w http.ResponseWriter, _ *http.Request) {
	e, now := a.explainer(w)
	if e == nil {
		return
	}
	then, err := suppose.Anew(now)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	p := provision.Decide(then, a.Options())
	write(w, answer{plan.Format, p.Result(then), p.Text(false)})
}

// Decision gives a decision, and the cluster as it was when it was made.
func (a Answers) Decision(w http.ResponseWriter, r *http.Request) {
	for _, e := range a.Decided() {
		if e.World.Digest() == r.PathValue("digest") {
			write(w, answer{plan.Format, Decided{decisionOf(e), Of(e.World, []journal.Entry{e})}, e.Plan.Text(true)})
			return
		}
	}
	http.Error(w, "no such decision is kept: only those of the last day are, as far as memory allows", http.StatusNotFound)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
