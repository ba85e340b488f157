package journal

import (
	"cmp"
	"reflect"
	"unsafe"

	"github.com/tenon-sh/tenon/engine/world"
)

// mostBytes is about how much memory entries may hold beside what the latest of them shares with the state of the cluster.
const mostBytes = 32 << 20

// fewest is how many entries are kept whatever they hold: one of each kind in the usual case.
const fewest = 4

// Roughly what items hold that Worlds do not share: a pod, and a machine without its pods.
const (
	podBytes   = 700
	placeBytes = 1500
)

// apart is about how many bytes a World holds that the next one does not: the lists
// of its items, which each World has for itself, and items that have changed since.
// It looks at each item once, and at no more than where in memory it is.
func apart(w, next *world.World) int64 {
	n := int64(unsafe.Sizeof(uintptr(0))) * int64(len(w.Pods())+len(w.Waiting())+len(w.Places()))
	n += podBytes * unshared(w.Pods(), next.Pods(), func(a, b *world.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}, nil)
	n += unshared(w.Places(), next.Places(), func(a, b *world.Place) int { return cmp.Compare(a.Name(), b.Name()) }, func(p, _ *world.Place) int64 {
		return placeBytes + int64(unsafe.Sizeof(p))*int64(len(p.Pods))
	})
	return n + unshared(w.Catalogs(), next.Catalogs(), func(a, b *world.Catalog) int { return cmp.Compare(a.Template, b.Template) }, catalogApart)
}

// unshared adds up what items of a sorted list hold that are not the very ones of
// another; nil: each counts one. The item of the same place in the order comes along, or nil.
func unshared[T any](of, other []*T, compare func(a, b *T) int, size func(a, b *T) int64) int64 {
	n := int64(0)
	for _, a := range of {
		for len(other) > 0 && other[0] != a && compare(other[0], a) < 0 {
			other = other[1:]
		}
		var b *T
		if len(other) > 0 && (other[0] == a || compare(other[0], a) == 0) {
			b, other = other[0], other[1:]
		}
		switch {
		case a == b:
		case size == nil:
			n++
		default:
			n += size(a, b)
		}
	}
	return n
}

// catalogApart is what a catalogue holds that a later one of the template does not. Shapes of
// several versions may share their offers and labels, and what they share counts once.
func catalogApart(c, later *world.Catalog) int64 {
	shared := map[unsafe.Pointer]bool{}
	if later != nil {
		for i := range later.Shapes {
			s := &later.Shapes[i]
			shared[unsafe.Pointer(unsafe.SliceData(s.Offers))] = true //nolint:gosec // compared and not followed
			shared[unsafe.Pointer(unsafe.SliceData(s.Labels))] = true //nolint:gosec // compared and not followed
		}
	}
	n := int64(0)
	for i := range c.Shapes {
		s := &c.Shapes[i]
		n += int64(unsafe.Sizeof(*s))
		if !shared[unsafe.Pointer(unsafe.SliceData(s.Offers))] { //nolint:gosec // compared and not followed
			n += int64(unsafe.Sizeof(world.Offer{})) * int64(len(s.Offers))
		}
		if !shared[unsafe.Pointer(unsafe.SliceData(s.Labels))] { //nolint:gosec // compared and not followed
			n += held(reflect.ValueOf(s.Labels), map[unsafe.Pointer]bool{})
		}
	}
	return n
}

// held is about how many bytes a value leads to. What several pointers lead to counts once.
func held(v reflect.Value, seen map[unsafe.Pointer]bool) int64 {
	n := int64(0)
	switch v.Kind() {
	case reflect.String:
		n = int64(v.Len())
	case reflect.Pointer:
		if v.IsNil() || seen[v.UnsafePointer()] {
			return 0
		}
		seen[v.UnsafePointer()] = true
		n = int64(v.Type().Elem().Size()) + held(v.Elem(), seen)
	case reflect.Slice:
		if v.Len() == 0 || seen[v.UnsafePointer()] {
			return 0
		}
		seen[v.UnsafePointer()] = true
		n = int64(v.Cap()) * int64(v.Type().Elem().Size())
		if flat(v.Type().Elem()) {
			return n
		}
		for i := range v.Len() {
			n += held(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += held(v.Field(i), seen)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += int64(v.Type().Key().Size()) + int64(v.Type().Elem().Size()) + held(entries.Key(), seen) + held(entries.Value(), seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			n = int64(v.Elem().Type().Size()) + held(v.Elem(), seen)
		}
	default: // nothing beside the value itself
	}
	return n
}

// flat reports whether values of a type lead to nothing.
func flat(t reflect.Type) bool { return t.Kind() <= reflect.Complex128 }
