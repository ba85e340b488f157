// Package written remembers what we wrote to the API server until a watch shows it.
//
// The API server answers a write at once, and watches show it later. What decides
// next in between must not see the world as it was: it would write the same again.
package written

import (
	"math/big"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Patience is how long a write counts that no watch shows. The object may have
// come and gone while no watch was open.
const Patience = 30 * time.Second

// Log is the newest that is known of objects of one kind, by name: seen or
// written. The caller guards it.
type Log[T any] struct {
	all map[string]entry[T]
}

// entry is one object.
type entry[T any] struct {
	uid     string // to tell a new object of the same name from an old one
	version string
	value   T
	watched bool      // a watch has shown it
	until   time.Time // when a write that no watch confirms is given up
}

// Source says how an object came to be known.
type Source int

// The sources.
const (
	Watch Source = iota // a watch shows it
	Write               // the API server answered our write with it
)

// Set takes down an object. It is false if what is known of it is newer.
func (l *Log[T]) Set(o metav1.Object, value T, by Source, now time.Time) bool {
	e, known := l.all[o.GetName()]
	same := known && e.uid == string(o.GetUID())
	if same && Newer(e.version, o.GetResourceVersion()) {
		e.watched = e.watched || by == Watch
		l.all[o.GetName()] = e
		return false
	}
	if l.all == nil {
		l.all = map[string]entry[T]{}
	}
	l.all[o.GetName()] = entry[T]{
		uid: string(o.GetUID()), version: o.GetResourceVersion(), value: value,
		watched: by == Watch || same && e.watched, until: now.Add(Patience),
	}
	return true
}

// Known returns what was noted with an object, if it is the same object.
func (l *Log[T]) Known(o metav1.Object) (T, bool) {
	e, known := l.all[o.GetName()]
	if !known || e.uid != string(o.GetUID()) {
		var none T
		return none, false
	}
	return e.value, true
}

// Newer returns what is known of an object that is newer than it is shown, for as long as that counts.
func (l *Log[T]) Newer(shown metav1.Object, now time.Time) (T, bool) {
	e, known := l.all[shown.GetName()]
	if !known || e.uid != string(shown.GetUID()) || !Newer(e.version, shown.GetResourceVersion()) || now.After(e.until) {
		var none T
		return none, false
	}
	return e.value, true
}

// Forget drops an object, unless another of its name has taken its place. The
// empty uid is that of any.
func (l *Log[T]) Forget(name, uid string) bool {
	if e, ok := l.all[name]; ok && uid != "" && e.uid != uid {
		return false
	}
	delete(l.all, name)
	return true
}

// Lost drops the objects that were written and that no watch has shown for too long, and names them.
func (l *Log[T]) Lost(now time.Time) []string {
	var lost []string
	for name, e := range l.all {
		if !e.watched && now.After(e.until) {
			delete(l.all, name)
			lost = append(lost, name)
		}
	}
	return lost
}

// Newer reports whether a resource version is newer than another of the same kind
// of object. What is no version is older than every other.
func Newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		_, none := resourceversion.CompareResourceVersion(a, a)
		return none == nil // then it is b that is none
	}
	return order > 0
}

// Next is a version that is newer than another and older than all that the API
// server will give.
func Next(version string) string {
	n, ok := new(big.Int).SetString(version, 10)
	if !ok {
		return version
	}
	return n.Add(n, big.NewInt(1)).String()
}
