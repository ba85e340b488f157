package convert

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// past is what a backup has.
type past struct {
	crds    map[kind]*unstructured.Unstructured
	objects stored // without nodes: what was changed of these is known
}

// readPast reads a backup that is to be put back.
func readPast(path, cluster string) (past, error) {
	p := past{crds: map[kind]*unstructured.Unstructured{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, verb.BadInputf("read the backup: %w", err)
	}
	if !strings.HasPrefix(string(text), backupHead+cluster+"\n") {
		return p, verb.BadInputf("%s is no backup of this cluster", path)
	}
	all, err := parseBackup(text)
	if err != nil {
		return p, verb.BadInputf("%s cannot be read: %w", path, err)
	}
	for i := range all {
		u := &all[i]
		switch u.GetKind() {
		case "CustomResourceDefinition":
			for _, k := range kinds() {
				if k.definition() == u.GetName() {
					p.crds[k] = u
				}
			}
		case "EC2NodeClass":
			p.objects.classes = append(p.objects.classes, *u)
		case "NodePool":
			p.objects.pools = append(p.objects.pools, *u)
		case "NodeClaim":
			p.objects.claims = append(p.objects.claims, *u)
		}
	}
	for _, k := range kinds() {
		switch crd := p.crds[k]; {
		case crd == nil:
			return p, verb.BadInputf("%s has no definition of %s: it is no whole backup", path, k.definition())
		case !writes(crd, beta) || !slices.Equal(storedIn(crd), []string{beta}):
			return p, verb.BadInputf("%s: objects of %s were stored as %s already, at least in part: the Karpenter that wrote them is v1.0 or later and reads what is stored now, so nothing has to be put back", path, k.definition(), latest)
		}
	}
	return p, nil
}

// is reports whether a definition is as it was.
func (p past) is(k kind, crd *unstructured.Unstructured) bool {
	return slices.Equal(storedIn(crd), storedIn(p.crds[k])) && reflect.DeepEqual(versionNames(crd), versionNames(p.crds[k])) && !open(crd) && !reopened(crd)
}

func versionNames(crd *unstructured.Unstructured) []string {
	return slices.Sorted(maps.Keys(versionsOf(crd)))
}

// restored is what is to be written to have the past again.
type restored struct {
	planned

	removed []string // classes that the conversion made
}

// restorer makes a plan of the way back.
type restorer struct {
	restored

	past      past
	overwrite bool
	last      map[kind]*unstructured.Unstructured // this release's definitions
	was, made map[string]*unstructured.Unstructured
	variants  map[string]change // classes that the conversion made, by name
}

// plan says what objects become. It gives the same answer when some of them have become it already.
func (p past) plan(now stored, overwrite bool) (restored, error) {
	r := restorer{past: p, overwrite: overwrite, last: map[kind]*unstructured.Unstructured{}, was: map[string]*unstructured.Unstructured{}, made: map[string]*unstructured.Unstructured{}, variants: map[string]change{}}
	for _, k := range kinds() {
		crd, err := final(k)
		if err != nil {
			return restored{}, err
		}
		r.last[k] = crd
	}
	converted := planOf(p.objects, time.Time{}).changes
	for i := range converted {
		if c := converted[i]; c.isNew {
			r.variants[c.object.GetName()] = c
		} else {
			r.made[string(c.object.GetUID())] = &converted[i].object
		}
	}
	for _, of := range []struct {
		kind      kind
		were, are []unstructured.Unstructured
	}{{classKind(), p.objects.classes, now.classes}, {poolKind(), p.objects.pools, now.pools}, {claimKind(), p.objects.claims, now.claims}} {
		for i := range of.were {
			r.was[string(of.were[i].GetUID())] = &of.were[i]
		}
		r.tellGone(of.kind, of.were, of.are)
		for i := range of.are {
			r.object(of.kind, &of.are[i], now.classes)
		}
	}
	for i := range now.nodes {
		if next, changed := earlierNode(&now.nodes[i]); changed {
			r.nodes = append(r.nodes, *next)
		}
	}
	return r.restored, nil
}

// tellGone says which objects of the backup are not there any more.
func (r *restorer) tellGone(k kind, were, are []unstructured.Unstructured) {
	for i := range were {
		there := slices.ContainsFunc(are, func(u unstructured.Unstructured) bool { return u.GetUID() == were[i].GetUID() })
		if !there {
			notes{k.name + "/" + were[i].GetName(), &r.notes}.say("", "it is not there any more, and is not made again")
		}
	}
}

// object plans one object.
func (r *restorer) object(k kind, now *unstructured.Unstructured, classes []unstructured.Unstructured) {
	n := notes{k.name + "/" + now.GetName(), &r.notes}
	was := r.was[string(now.GetUID())]
	variant, isVariant := r.variants[now.GetName()]
	switch {
	case was != nil:
		made := r.made[string(now.GetUID())]
		if made == nil { // it could not have been converted
			made = was
		}
		r.put(k, now, r.specOf(k, now, was, made, n), made, was)
	case k == classKind() && isVariant:
		origin := slices.IndexFunc(r.past.objects.classes, func(u unstructured.Unstructured) bool { return u.GetName() == variant.like })
		r.put(k, now, r.specOf(k, now, &r.past.objects.classes[origin], &variant.object, n), nil, nil)
		r.removed = append(r.removed, now.GetName())
	case k == claimKind():
		r.put(k, now, r.claim(now, classes, n), nil, nil)
	default:
		n.refuse("", "it was made after the conversion, and the backup does not say what it would be in %s: delete it while the controller runs, which then ends its nodes, or keep it in a file", beta)
	}
}

// specOf is what the backup says, unless somebody else has changed what became of it, which is refused.
func (r *restorer) specOf(k kind, now, was, made *unstructured.Unstructured, n notes) any {
	is, before := now.Object["spec"], was.Object["spec"]
	after := defaulted(made.Object["spec"], schemaOf(r.last[k], latest))
	switch {
	case reflect.DeepEqual(is, before), reflect.DeepEqual(is, defaulted(before, schemaOf(r.past.crds[k], beta))):
		return is
	case r.overwrite, reflect.DeepEqual(is, after):
		return before
	}
	n.refuse(strings.Join(differing(is, after), ", "), "it was changed after the conversion, and %s would lose that: put back what the conversion made of it, or say --overwrite", beta)
	return is
}

// differing are the fields of two specs that are not the same.
func differing(a, b any) []string {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	var out []string
	for _, field := range slices.Sorted(maps.Keys(x)) {
		if !reflect.DeepEqual(x[field], y[field]) {
			out = append(out, "spec."+field)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(y)) {
		if _, ok := x[field]; !ok {
			out = append(out, "spec."+field)
		}
	}
	return out
}

// put plans an object with another spec. What a controller wrote since stays; what it left as the conversion made it is as it was.
func (r *restorer) put(k kind, now *unstructured.Unstructured, spec any, made, was *unstructured.Unstructured) {
	next := now.DeepCopy()
	next.SetAPIVersion(k.group + "/" + beta)
	next.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	if was != nil {
		if status, ok := was.Object["status"]; ok && reflect.DeepEqual(now.Object["status"], made.Object["status"]) {
			next.Object["status"] = runtime.DeepCopyJSONValue(status)
		}
		next.SetAnnotations(withHashes(now.GetAnnotations(), was.GetAnnotations()))
	}
	if owners, changed := earlierOwners(next.GetOwnerReferences()); changed {
		next.SetOwnerReferences(owners)
	}
	r.changes = append(r.changes, change{kind: k, object: *next, moved: !reflect.DeepEqual(body(now), body(next))})
}

// withHashes are annotations with the hashes that were: by those of another release every node would seem to have drifted, or none.
func withHashes(now, was map[string]string) map[string]string {
	hash := func(key string) bool {
		return strings.HasSuffix(key, "-hash") || strings.HasSuffix(key, "-hash-version")
	}
	out := map[string]string{}
	for key, value := range now {
		if !hash(key) {
			out[key] = value
		}
	}
	for key, value := range was {
		if hash(key) {
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// claim is the spec of a claim that came since. What v1 has at the class and at the claim, v1beta1 has at the claim and at the pool.
func (r *restorer) claim(now *unstructured.Unstructured, classes []unstructured.Unstructured, n notes) any {
	spec, _, _ := unstructured.NestedMap(now.Object, "spec")
	ref, _, _ := unstructured.NestedMap(spec, "nodeClassRef")
	if _, ok := ref["group"]; !ok {
		return now.Object["spec"] // it was written before
	}
	name, _ := ref["name"].(string)
	if kubelet := r.kubelet(name, classes); kubelet != nil {
		spec["kubelet"] = kubelet
	}
	if variant, ok := r.variants[name]; ok {
		name = variant.like
	}
	spec["nodeClassRef"] = map[string]any{"apiVersion": awsv1.Group + "/" + beta, "kind": "EC2NodeClass", "name": name}
	delete(spec, "expireAfter")
	if _, ok := spec["terminationGracePeriod"]; ok {
		delete(spec, "terminationGracePeriod")
		n.say("spec.terminationGracePeriod", "%s has none: pods that may not be evicted keep the node", beta)
	}
	return spec
}

// kubelet is the settings that machines of a class are started with; nil if there are none.
func (r *restorer) kubelet(class string, classes []unstructured.Unstructured) any {
	all := slices.Clone(classes)
	if variant, ok := r.variants[class]; ok {
		all = append(all, variant.object) // if it has been written as its like already
	}
	for _, made := range r.made {
		if made.GetKind() == "EC2NodeClass" {
			all = append(all, *made)
		}
	}
	for i := range all {
		if kubelet, ok, _ := unstructured.NestedMap(all[i].Object, "spec", "kubelet"); ok && all[i].GetName() == class {
			return kubelet
		}
	}
	return nil
}

// earlierOwners name the version that owners have again.
func earlierOwners(refs []metav1.OwnerReference) ([]metav1.OwnerReference, bool) {
	changed := false
	for i, r := range refs {
		known := slices.ContainsFunc(kinds(), func(k kind) bool { return r.APIVersion == k.group+"/"+latest && r.Kind == k.name })
		if known {
			refs[i].APIVersion, changed = strings.TrimSuffix(r.APIVersion, latest)+beta, true
		}
	}
	return refs, changed
}

// earlierNode is a node with its owner's former version, and without the taint that only controllers of v1 take off. The taint that the conversion took off
// stays off: it was of a decision that Karpenter had in memory, and one that starts takes it off itself.
func earlierNode(was *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	next := was.DeepCopy()
	owners, changed := earlierOwners(next.GetOwnerReferences())
	if changed {
		next.SetOwnerReferences(owners)
	}
	return withoutTaint(next, v1.TaintDisrupted, changed)
}

// schemaOf is the schema of the specs of a version.
func schemaOf(crd *unstructured.Unstructured, version string) map[string]any {
	out, _, _ := unstructured.NestedMap(versionsOf(crd)[version], "schema", "openAPIV3Schema", "properties", "spec")
	return out
}

// defaulted is a value with what an API server fills in by a schema.
func defaulted(value any, schema map[string]any) any {
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		fields, _ := schema["properties"].(map[string]any)
		for name, field := range fields {
			of, _ := field.(map[string]any)
			if assumed, ok := of["default"]; ok && out[name] == nil {
				out[name] = runtime.DeepCopyJSONValue(assumed)
			}
			if there, ok := out[name]; ok {
				out[name] = defaulted(there, of)
			}
		}
		if others, ok := schema["additionalProperties"].(map[string]any); ok {
			for name, field := range out {
				out[name] = defaulted(field, others)
			}
		}
		return out
	case []any:
		items, _ := schema["items"].(map[string]any)
		out := slices.Clone(v)
		for i := range out {
			out[i] = defaulted(out[i], items)
		}
		return out
	}
	return value
}
