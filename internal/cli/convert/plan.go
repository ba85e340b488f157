package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

const (
	// latest is the version that objects become.
	latest = "v1"
	// keptKubelet is the annotation in which Karpenter 1.0 kept a NodePool's kubelet settings when it made v1 of it.
	keptKubelet = "compatibility." + v1.Group + "/v1beta1-kubelet-conversion"
	// oldTaint was put on nodes about to be disrupted. Controllers of v1 use another, so it would stay for ever.
	oldTaint = v1.Group + "/disruption"
)

// stored is what a cluster holds of the kinds whose version changed, and its nodes.
type stored struct{ classes, pools, claims, nodes []unstructured.Unstructured }

// change is one object as it is to be written.
type change struct {
	kind   kind
	object unstructured.Unstructured
	isNew  bool
	moved  bool   // it differs in more than its version
	like   string // for a new class, the one that it is a variant of
}

func (c change) String() string { return c.kind.name + "/" + c.object.GetName() }

// planned is everything that is to be written, in order, and what is to be said of it.
type planned struct {
	changes []change
	nodes   []unstructured.Unstructured // as they become
	notes   []Note
}

// plannedClass is what becomes of a class.
type plannedClass struct {
	was     *unstructured.Unstructured // for a new one, the class that it is a variant of
	isNew   bool
	spec    map[string]any // without kubelet settings
	kubelet string         // as JSON; empty if there are none
	plain   bool           // some pool uses it without settings of its own
	asked   []string       // the settings that pools ask of it, each once
}

// plannedPool is what becomes of a pool.
type plannedPool struct {
	was     *unstructured.Unstructured
	beta    *BetaPool // nil: it is of v1
	class   string
	kubelet string
	expire  string
}

// planner makes a plan.
type planner struct {
	planned

	classes map[string]*plannedClass
	pools   map[string]*plannedPool
}

// planOf says what objects become. It gives the same answer when some of them have become it already.
func planOf(s stored, now time.Time) planned {
	p := planner{classes: map[string]*plannedClass{}, pools: map[string]*plannedPool{}}
	for i := range s.classes {
		p.class(&s.classes[i])
	}
	for i := range s.pools {
		p.pool(&s.pools[i])
	}
	for _, name := range slices.Sorted(maps.Keys(p.pools)) {
		pool := p.pools[name]
		pool.class = p.settle(pool.class, name, pool.kubelet)
	}
	p.writeClasses()
	for _, name := range slices.Sorted(maps.Keys(p.pools)) {
		p.writePool(p.pools[name])
	}
	for i := range s.claims {
		p.claim(&s.claims[i], now)
	}
	for i := range s.nodes {
		if next, changed := renewedNode(&s.nodes[i]); changed {
			p.nodes = append(p.nodes, *next)
		}
	}
	return p.planned
}

// refused are the objects that cannot be converted.
func (p planned) refused() []Note {
	return slices.DeleteFunc(slices.Clone(p.notes), func(n Note) bool { return !n.Fatal })
}

// class reads a class. One of v1 stays as it is.
func (p *planner) class(u *unstructured.Unstructured) {
	n := notes{"EC2NodeClass/" + u.GetName(), &p.notes}
	plain := u.DeepCopy()
	unstructured.RemoveNestedField(plain.Object, "status")
	var c awsv1.EC2NodeClass
	if err := decode(plain, &c); err != nil {
		n.refuse("", "%v", err)
		return
	}
	spec, ok := betaClass(&c, n)
	if !ok {
		return
	}
	out := &plannedClass{was: u, kubelet: settingsOf(spec.Kubelet)}
	spec.Kubelet = nil
	if out.spec, ok = specOf(&awsv1.EC2NodeClass{Spec: spec}, n); ok {
		p.classes[u.GetName()] = out
	}
}

// pool reads a pool, and notes what it asks of its class.
func (p *planner) pool(u *unstructured.Unstructured) {
	n := notes{"NodePool/" + u.GetName(), &p.notes}
	ref, _, _ := unstructured.NestedMap(u.Object, "spec", "template", "spec", "nodeClassRef")
	out := &plannedPool{was: u}
	out.class, _ = ref["name"].(string)
	if _, ok := ref["group"]; ok {
		out.kubelet = settingsOf(&runtime.RawExtension{Raw: []byte(u.GetAnnotations()[keptKubelet])})
		out.expire, _, _ = unstructured.NestedString(u.Object, "spec", "template", "spec", "expireAfter")
	} else {
		out.beta = &BetaPool{}
		if err := decode(u, out.beta); err != nil {
			n.refuse("", "%v", err)
			return
		}
		if kind, _ := ref["kind"].(string); kind != "" && kind != "EC2NodeClass" {
			n.refuse("spec.template.spec.nodeClassRef.kind", "%s is no class of AWS", kind)
			return
		}
		out.kubelet = out.beta.kubelet()
		out.expire = string(betaPool(out.beta, out.class, notes{all: new([]Note)}).Spec.Template.Spec.ExpireAfter)
	}
	p.pools[u.GetName()] = out
	c := p.classes[out.class]
	switch {
	case c == nil && out.beta != nil:
		n.say("spec.template.spec.nodeClassRef", "there is no EC2NodeClass %s: nothing is bought for the pool until there is", out.class)
	case c != nil && out.kubelet == "":
		c.plain = true
	case c != nil && !slices.Contains(c.asked, out.kubelet):
		c.asked = append(c.asked, out.kubelet)
	}
}

// settle returns the class that has a pool's kubelet settings: the pool's class itself, one that was made of it, or a new one.
func (p *planner) settle(class, pool, kubelet string) string {
	c := p.classes[class]
	if c == nil || kubelet == "" || c.kubelet == kubelet {
		return class
	}
	if sibling := p.sibling(class, kubelet); sibling != "" {
		return sibling
	}
	if c.kubelet == "" && len(c.asked) == 1 && !c.plain {
		c.kubelet = kubelet
		return class
	}
	name := class + "-" + pool
	n := notes{"NodePool/" + pool, &p.notes}
	if _, taken := p.classes[name]; taken {
		n.refuse("spec.template.spec.kubelet", "settings of the kubelet move to the class, and other pools of class %s have others: the pool needs a class %s, and there is one that says something else", class, name)
		return class
	}
	p.classes[name] = &plannedClass{was: c.was, isNew: true, spec: c.spec, kubelet: kubelet}
	n.say("spec.template.spec.kubelet", "settings of the kubelet move to the class, and other pools of class %s have others: the new class %s has these", class, name)
	return name
}

// sibling is a class made of another for these kubelet settings; empty if there is none.
func (p *planner) sibling(class, kubelet string) string {
	for _, name := range slices.Sorted(maps.Keys(p.classes)) {
		if c := p.classes[name]; strings.HasPrefix(name, class+"-") && c.kubelet == kubelet && reflect.DeepEqual(c.spec, p.classes[class].spec) {
			return name
		}
	}
	return ""
}

// writeClasses plans classes: those that are there, then those that are made of them. They go before the pools that name them.
func (p *planner) writeClasses() {
	for _, isNew := range []bool{false, true} {
		for _, name := range slices.Sorted(maps.Keys(p.classes)) {
			c := p.classes[name]
			if c.isNew != isNew {
				continue
			}
			spec := maps.Clone(c.spec)
			if k := (variant{kubelet: c.kubelet}).settings(); k != nil {
				var fields map[string]any
				if json.Unmarshal(k.Raw, &fields) == nil {
					spec["kubelet"] = integers(fields)
				}
			}
			if isNew {
				p.create(name, c, spec)
			} else {
				p.write(classKind(), c.was, spec)
			}
		}
	}
}

// create plans a new class.
func (p *planner) create(name string, c *plannedClass, spec map[string]any) {
	m := meta(name, metav1.ObjectMeta{Labels: c.was.GetLabels(), Annotations: c.was.GetAnnotations()})
	out := unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
	out.SetAPIVersion(awsv1.GroupVersion.String())
	out.SetKind("EC2NodeClass")
	out.SetName(name)
	out.SetLabels(m.Labels)
	out.SetAnnotations(m.Annotations)
	p.changes = append(p.changes, change{kind: classKind(), object: out, isNew: true, moved: true, like: c.was.GetName()})
}

// writePool plans a pool.
func (p *planner) writePool(pool *plannedPool) {
	if pool.beta == nil {
		spec, _, _ := unstructured.NestedMap(pool.was.Object, "spec")
		if p.classes[pool.class] != nil {
			_ = unstructured.SetNestedField(spec, pool.class, "template", "spec", "nodeClassRef", "name") // it was read there
		}
		p.write(poolKind(), pool.was, spec)
		return
	}
	n := notes{"NodePool/" + pool.was.GetName(), &p.notes}
	next := betaPool(pool.beta, pool.class, n)
	if spec, ok := specOf(&next, n); ok {
		p.write(poolKind(), pool.was, spec)
	}
}

// betaClaim is a NodeClaim as v0.32 to v0.37 stored it.
type betaClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Taints        json.RawMessage       `json:"taints"`
		StartupTaints json.RawMessage       `json:"startupTaints"`
		Requirements  json.RawMessage       `json:"requirements"`
		Resources     json.RawMessage       `json:"resources"`
		Kubelet       *runtime.RawExtension `json:"kubelet"`
		NodeClassRef  struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"nodeClassRef"`
	} `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// claim plans a claim. What its pool said of age and class, it says itself from now on.
func (p *planner) claim(u *unstructured.Unstructured, now time.Time) {
	n := notes{"NodeClaim/" + u.GetName(), &p.notes}
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	ref, _, _ := unstructured.NestedMap(spec, "nodeClassRef")
	if _, ok := ref["group"]; ok {
		p.write(claimKind(), u, spec)
		return
	}
	var c betaClaim
	if err := decode(u, &c); err != nil {
		n.refuse("", "%v", err)
		return
	}
	if kind := c.Spec.NodeClassRef.Kind; kind != "" && kind != "EC2NodeClass" {
		n.refuse("spec.nodeClassRef.kind", "%s is no class of AWS", kind)
		return
	}
	expire := "720h"
	if pool := p.pools[u.GetLabels()[v1.LabelNodePool]]; pool != nil && pool.expire != "" {
		expire = pool.expire
	}
	delete(spec, "kubelet")
	spec["expireAfter"] = expire
	spec["nodeClassRef"] = map[string]any{"group": awsv1.Group, "kind": "EC2NodeClass", "name": p.classOf(c.Spec.NodeClassRef.Name, settingsOf(c.Spec.Kubelet))}
	if _, ok := spec["requirements"]; !ok {
		spec["requirements"] = []any{}
	}
	if limit, err := time.ParseDuration(expire); err == nil && now.Sub(u.GetCreationTimestamp().Time) > limit {
		n.say("spec.expireAfter", "the node is older than the %s that its pool allows: whatever budgets say, it is replaced when a controller runs", expire)
	}
	p.write(claimKind(), u, spec)
}

// classOf is the class with the kubelet settings that a machine was started with, or else the one it was started from.
func (p *planner) classOf(class, kubelet string) string {
	if c := p.classes[class]; c == nil || c.kubelet == kubelet {
		return class
	}
	if sibling := p.sibling(class, kubelet); sibling != "" {
		return sibling
	}
	return class
}

// write plans an object that is there: with another spec, and with everything else that it has.
func (p *planner) write(k kind, was *unstructured.Unstructured, spec map[string]any) {
	next := was.DeepCopy()
	next.SetAPIVersion(k.group + "/" + latest)
	next.Object["spec"] = runtime.DeepCopyJSON(spec)
	if conditions, ok, _ := unstructured.NestedSlice(next.Object, "status", "conditions"); ok {
		_ = unstructured.SetNestedSlice(next.Object, renewedConditions(conditions, was), "status", "conditions") // it was read there
	}
	if owners, changed := renewedOwners(next.GetOwnerReferences()); changed {
		next.SetOwnerReferences(owners)
	}
	moved := !reflect.DeepEqual(body(was), body(next))
	p.changes = append(p.changes, change{kind: k, object: *next, moved: moved})
}

// body is what an object says, without its version.
func body(u *unstructured.Unstructured) map[string]any {
	out := maps.Clone(u.Object)
	delete(out, "apiVersion")
	return out
}

// renewedConditions leaves out the conditions that no controller of v1 keeps, and what conditions of v1 do not have.
func renewedConditions(all []any, of *unstructured.Unstructured) []any {
	out := []any{}
	for _, c := range all {
		fields, ok := c.(map[string]any)
		if !ok || slices.Contains([]any{"Expired", "Empty", "Underutilized"}, fields["type"]) {
			continue
		}
		delete(fields, "severity")
		if at, _ := fields["lastTransitionTime"].(string); at == "" {
			fields["lastTransitionTime"] = of.GetCreationTimestamp().UTC().Format(time.RFC3339)
		}
		out = append(out, fields)
	}
	return out
}

// renewedOwners name the version that owners have from now on: what has one that is not served is never let go by the garbage collector.
func renewedOwners(refs []metav1.OwnerReference) ([]metav1.OwnerReference, bool) {
	changed := false
	for i, r := range refs {
		if group, version, _ := strings.Cut(r.APIVersion, "/"); version == beta && (group == v1.Group || group == awsv1.Group) {
			refs[i].APIVersion, changed = group+"/"+latest, true
		}
	}
	return refs, changed
}

// renewedNode is a node with its owner's new version, and without the taint that no controller takes off any more.
func renewedNode(was *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	next := was.DeepCopy()
	owners, changed := renewedOwners(next.GetOwnerReferences())
	if changed {
		next.SetOwnerReferences(owners)
	}
	return withoutTaint(next, oldTaint, changed)
}

// withoutTaint takes a taint off a node that is not ending, and reports whether it is changed then.
func withoutTaint(next *unstructured.Unstructured, key string, changed bool) (*unstructured.Unstructured, bool) {
	taints, _, _ := unstructured.NestedSlice(next.Object, "spec", "taints")
	left := slices.DeleteFunc(slices.Clone(taints), func(t any) bool {
		fields, _ := t.(map[string]any)
		return fields["key"] == key
	})
	if len(left) < len(taints) && next.GetDeletionTimestamp() == nil {
		_ = unstructured.SetNestedSlice(next.Object, left, "spec", "taints") // they were read there
		changed = true
	}
	return next, changed
}

// decode reads an object as one of its kind, and refuses fields that the kind does not have.
func decode(u *unstructured.Unstructured, into any) error {
	text, err := u.MarshalJSON()
	if err != nil {
		return err
	}
	return strict(text, into)
}

// specOf is the spec of an object as it is written.
func specOf(o any, n notes) (map[string]any, bool) {
	plain, err := write(o)
	if err != nil {
		n.refuse("spec", "%v", err)
		return nil, false
	}
	spec, ok := integers(plain["spec"]).(map[string]any)
	if !ok {
		n.refuse("spec", "there is none")
	}
	return spec, ok
}

// settingsOf is kubelet settings as JSON, in the order of their names; empty if there are none.
func settingsOf(k *runtime.RawExtension) string {
	var p BetaPool
	p.Spec.Template.Spec.Kubelet = k
	return p.kubelet()
}

// sum says how much of a cluster the plan is about.
func (p planned) sum(s stored) string {
	return fmt.Sprintf("%d EC2NodeClass, %d NodePool, %d NodeClaim and %d Node objects", len(s.classes), len(s.pools), len(s.claims), len(p.nodes))
}
