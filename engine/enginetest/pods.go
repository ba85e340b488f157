package enginetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// pod reads what a pod asks for. Its label app is its name unless the line says otherwise.
func (a *args) pod(name string) world.Pod {
	p := world.Pod{
		Key: world.Key{Namespace: a.one("namespace", "default"), Name: name}, Node: a.one("node", ""), Nominated: a.one("nominated", ""),
		Promised: a.flag("promised"), Planned: a.one("planned", ""), Gated: a.flag("gated"), Claims: a.flag("claims"), Terminating: a.flag("terminating"), DaemonSet: a.one("owner", ""),
		Priority: int32(a.number("priority", 0)), Problems: a.all("problem"),
	}
	p.Waiting = p.Node == "" && !p.Gated
	p.Requests = a.resources().With(amount.Pods, amount.Unit)
	for _, s := range a.all("select") {
		p.NodeSelector = p.NodeSelector.And(a.requirement(s))
	}
	for _, s := range a.all("affinity") {
		p.NodeTerms = append(p.NodeTerms, a.nodeTerm(s))
	}
	for _, s := range a.all("prefer") {
		w, term, _ := strings.Cut(s, ":")
		n, err := strconv.Atoi(w)
		a.fail(err)
		p.NodeWishes = append(p.NodeWishes, world.NodeWish{Weight: n, Term: a.nodeTerm(term)})
	}
	for _, s := range a.all("tolerate") {
		p.Tolerations = append(p.Tolerations, toleration(s))
	}
	for _, s := range a.all("spread") {
		p.Spread = append(p.Spread, a.spread(s, name))
	}
	for _, s := range a.all("near") {
		p.PodTerms = append(p.PodTerms, a.podTerm(s, name, p.Namespace, false))
	}
	for _, s := range a.all("apart") {
		p.PodTerms = append(p.PodTerms, a.podTerm(s, name, p.Namespace, true))
	}
	for _, s := range a.all("port") {
		n, err := strconv.Atoi(s)
		a.fail(err)
		p.Ports = append(p.Ports, world.Port{Protocol: "TCP", Port: int32(n)})
	}
	for _, s := range a.all("volume") {
		p.Volumes = append(p.Volumes, a.volume(s))
	}
	for _, s := range a.all("once") {
		v := a.volume(s)
		v.OneNode = true
		p.Volumes = append(p.Volumes, v)
	}
	for _, s := range a.all("oncepod") {
		v := a.volume(s)
		v.OneNode, v.OnePod = true, true
		p.Volumes = append(p.Volumes, v)
	}
	p.Devices = a.deviceClaims(p.Namespace, name)
	p.Labels = a.rest(map[string]string{"app": name})
	return p
}

// volume reads id:driver@zone, with a question mark for the zone if the volume is still to be made.
func (a *args) volume(s string) world.Volume {
	id, where, _ := strings.Cut(s, "@")
	id, driver, _ := strings.Cut(id, ":")
	v := world.Volume{ID: id, Driver: driver}
	where, v.Pending = strings.CutPrefix(where, "?")
	if where != "" {
		v.Places = []label.Set{{a.requirement("zone:" + where)}}
	}
	return v
}

func (a *args) nodeTerm(s string) world.NodeTerm {
	var t world.NodeTerm
	for part := range strings.SplitSeq(s, "&") {
		if part == "" {
			continue
		}
		if node, ok := strings.CutPrefix(part, "name:"); ok {
			r := label.Is("metadata.name", node)
			t.Name = &r
			continue
		}
		t.Labels = t.Labels.And(a.requirement(part))
	}
	t.Labels = sortRequirements(t.Labels)
	return t
}

func toleration(s string) world.Toleration {
	if s == "*" {
		return world.Toleration{Exists: true}
	}
	t := taint(s)
	if !strings.Contains(s, ":") {
		t.Effect = ""
	}
	return world.Toleration{Key: t.Key, Value: t.Value, Exists: !strings.Contains(s, "="), Effect: t.Effect}
}

// app picks pods by their label app.
func app(name string) world.Selector {
	return world.Selector{Some: true, Set: label.SetOf(label.Is("app", name))}
}

// spread reads key:maxSkew and then any of soft, min=N, any, taints, of=APP.
func (a *args) spread(s, name string) world.Spread {
	parts := strings.Split(s, ":")
	if len(parts) < 2 {
		a.fail(fmt.Errorf("%q is not key:maxSkew", s))
		return world.Spread{}
	}
	skew, err := strconv.Atoi(parts[1])
	a.fail(err)
	c := world.Spread{Key: longKey(parts[0]), MaxSkew: skew, Selector: app(name)}
	for _, o := range parts[2:] {
		k, v, _ := strings.Cut(o, "=")
		switch k {
		case "soft":
			c.Soft = true
		case "any":
			c.AnyNode = true
		case "taints":
			c.HonourTaints = true
		case "of":
			c.Selector = app(v)
		case "min":
			c.MinDomains, err = strconv.Atoi(v)
			a.fail(err)
		default:
			a.fail(fmt.Errorf("unknown word %q of spread", o))
		}
	}
	return c
}

// podTerm reads key, key:app or key:app:weight.
func (a *args) podTerm(s, name, namespace string, anti bool) world.PodTerm {
	parts := strings.Split(s, ":")
	t := world.PodTerm{Anti: anti, Key: longKey(parts[0]), Selector: app(name), Namespaces: []string{namespace}}
	if len(parts) > 1 && parts[1] != "" {
		t.Selector = app(parts[1])
	}
	if len(parts) > 2 {
		w, err := strconv.Atoi(parts[2])
		a.fail(err)
		t.Weight = w
	}
	return t
}
