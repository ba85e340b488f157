package observe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/world"
)

// generation is on the pods of a DaemonSet: which of its templates they were made from.
const generation = "pod-template-generation"

// Daemons knows how large the pods of DaemonSets really are: a template does
// not say what admission adds to the pods made from it. It says so by the
// newest pod there is, and before there is one by the template with the
// namespace's LimitRanges. The zero Daemons is not to be used.
type Daemons struct {
	sets   map[world.Key]daemonSet
	pods   map[world.Key]*daemonPods
	limits map[string]map[string][]corev1.LimitRangeItem // by namespace and name
}

type daemonSet struct {
	item       world.DaemonSet
	asks       corev1.Pod // of its template no more than what it requests
	generation string
}

// daemonPods are the pods of one DaemonSet.
type daemonPods struct {
	made   map[string]int64 // when each was made, by name
	newest string
}

// NewDaemons returns a Daemons that knows nothing yet.
func NewDaemons() Daemons {
	return Daemons{sets: map[world.Key]daemonSet{}, pods: map[world.Key]*daemonPods{}, limits: map[string]map[string][]corev1.LimitRangeItem{}}
}

// SetDaemonSet puts a DaemonSet in; it is false for one that is going away, which runs on no new node.
func (d Daemons) SetDaemonSet(s *appsv1.DaemonSet) bool {
	item, runs := DaemonSet(s)
	if !runs {
		delete(d.sets, item.Key)
		return false
	}
	spec := &s.Spec.Template.Spec
	asks := corev1.Pod{Spec: corev1.PodSpec{Overhead: spec.Overhead, Resources: spec.Resources}}
	asks.Spec.InitContainers, asks.Spec.Containers = resourcesOf(spec.InitContainers), resourcesOf(spec.Containers)
	d.sets[item.Key] = daemonSet{item: item, asks: asks, generation: s.Annotations[appsv1.DeprecatedTemplateGeneration]}
	return true
}

func resourcesOf(all []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(all))
	for i, c := range all {
		out[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return out
}

// DeleteDaemonSet takes a DaemonSet out.
func (d Daemons) DeleteDaemonSet(k world.Key) { delete(d.sets, k) }

// SetLimitRange puts a LimitRange in.
func (d Daemons) SetLimitRange(l *corev1.LimitRange) {
	if d.limits[l.Namespace] == nil {
		d.limits[l.Namespace] = map[string][]corev1.LimitRangeItem{}
	}
	d.limits[l.Namespace][l.Name] = l.Spec.Limits
}

// DeleteLimitRange takes a LimitRange out.
func (d Daemons) DeleteLimitRange(k world.Key) { delete(d.limits[k.Namespace], k.Name) }

// Of are the DaemonSets of a namespace, in order.
func (d Daemons) Of(namespace string) []world.Key {
	var out []world.Key
	for k := range d.sets {
		if k.Namespace == namespace {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b world.Key) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Keys are all DaemonSets, in order.
func (d Daemons) Keys() []world.Key {
	return slices.SortedFunc(maps.Keys(d.sets), func(a, b world.Key) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// SetPod puts a pod in, and reports whether the size of its DaemonSet may have changed.
func (d Daemons) SetPod(p *world.Pod) bool {
	if p.DaemonSet == "" {
		return false
	}
	k := world.Key{Namespace: p.Namespace, Name: p.DaemonSet}
	if p.Done {
		return d.DeletePod(p)
	}
	all := d.pods[k]
	if all == nil {
		all = &daemonPods{made: map[string]int64{}}
		d.pods[k] = all
	}
	all.made[p.Name] = p.Created
	if all.newest == "" || all.newer(p.Name, all.newest) {
		all.newest = p.Name
	}
	return all.newest == p.Name
}

// DeletePod takes a pod out, and reports whether the size of its DaemonSet may have changed.
func (d Daemons) DeletePod(p *world.Pod) bool {
	k := world.Key{Namespace: p.Namespace, Name: p.DaemonSet}
	all := d.pods[k]
	if all == nil {
		return false
	}
	if delete(all.made, p.Name); len(all.made) == 0 {
		delete(d.pods, k)
		return true
	}
	if all.newest != p.Name {
		return false
	}
	all.newest = ""
	for name := range all.made {
		if all.newest == "" || all.newer(name, all.newest) {
			all.newest = name
		}
	}
	return true
}

// newer orders pods by when they were made, and those of one second by name.
func (a *daemonPods) newer(x, y string) bool {
	return a.made[x] > a.made[y] || a.made[x] == a.made[y] && x > y
}

// Sized is a DaemonSet with what its pods really request; pod finds them. It is
// false if there is none of that key.
//
// While its newest pod is of an older template, which is so until the first
// node is updated, the larger of both counts.
func (d Daemons) Sized(k world.Key, pod func(world.Key) *world.Pod) (world.DaemonSet, bool) {
	s, ok := d.sets[k]
	if !ok {
		return world.DaemonSet{}, false
	}
	out := s.item
	s.asks.Namespace = k.Namespace
	out.Pod.Requests = requests(d.Admitted(&s.asks))
	all := d.pods[k]
	if all == nil {
		return out, true
	}
	newest := pod(world.Key{Namespace: k.Namespace, Name: all.newest})
	if newest == nil {
		return out, true
	}
	if made := newest.Labels[generation]; made != "" && s.generation != "" && made != s.generation {
		out.Pod.Requests = out.Pod.Requests.Max(newest.Requests)
	} else {
		out.Pod.Requests = newest.Requests
	}
	return out, true
}

// Admitted is a pod with the requests and limits that the LimitRanges of its
// namespace give to containers that have none.
func (d Daemons) Admitted(p *corev1.Pod) *corev1.Pod {
	ranges := d.limits[p.Namespace]
	if len(ranges) == 0 {
		return p
	}
	p = p.DeepCopy()
	for _, all := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range all {
			r := &all[i].Resources
			fill(&r.Requests, r.Limits) // as the API defaults a pod before any admission
			for _, name := range slices.Sorted(maps.Keys(ranges)) {
				for _, item := range ranges[name] {
					if item.Type == corev1.LimitTypeContainer {
						limits, asks := defaults(item)
						fill(&r.Requests, asks)
						fill(&r.Limits, limits)
					}
				}
			}
		}
	}
	return p
}

// defaults are the limits and requests that a LimitRange gives to containers.
// The API fills in one by the other; a LimitRange that was read from a file may be without.
func defaults(item corev1.LimitRangeItem) (limits, asks corev1.ResourceList) {
	limits, asks = maps.Clone(item.Default), maps.Clone(item.DefaultRequest)
	fill(&limits, item.Max)
	fill(&asks, limits)
	fill(&asks, item.Min)
	return limits, asks
}

// fill adds what is not there yet.
func fill(to *corev1.ResourceList, from corev1.ResourceList) {
	if *to == nil && len(from) > 0 {
		*to = corev1.ResourceList{}
	}
	for name, q := range from {
		if _, ok := (*to)[name]; !ok {
			(*to)[name] = q
		}
	}
}
