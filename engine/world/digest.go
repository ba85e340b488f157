package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
)

// sum is a digest of items that does not depend on their order: item hashes
// add up lane by lane, so an item can also be taken out again.
type sum [4]uint64

func (s sum) plus(o sum) sum {
	for i := range s {
		s[i] += o[i]
	}
	return s
}

func (s sum) minus(o sum) sum {
	for i := range s {
		s[i] -= o[i]
	}
	return s
}

// text closes the sum over the time at.
func (s sum) text(at int64) string {
	var b []byte
	for _, lane := range s {
		b = binary.BigEndian.AppendUint64(b, lane)
	}
	h := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(at)))
	return "sha256:" + hex.EncodeToString(h[:])
}

// hasher turns items of one type into sums. It writes every field in the order
// of its declaration, maps in order of their keys, each with its length, so
// that different items never write the same bytes. Fields with the tag
// `digest:"later"` come last, by name, and only if they are not zero: items
// without them have the digest that they had before the field was known.
type hasher struct {
	kind   byte // keeps a pod and a node of equal bytes apart
	fields []field
	buf    []byte
}

// field is one field of an item: how it is written, and its values so far, by
// what they write, if equal ones are kept once.
type field struct {
	write func(buf []byte, v reflect.Value) []byte
	known map[string]reflect.Value
	later string // its name, if it is written at the end
}

// newHasher returns the hasher of the items of a type.
func newHasher(kind byte, t reflect.Type) *hasher {
	return &hasher{kind: kind, fields: fieldsOf(t, true)}
}

// fieldsOf are the fields of a struct. Only one that ends its item, as the pod of a DaemonSet does, may have
// fields that come last: nothing follows by which they could be taken for something else.
func fieldsOf(t reflect.Type, ends bool) []field {
	fields := make([]field, t.NumField())
	bit, open := byte(1), false // open: a bool's byte is the last that is written
	for i := range fields {
		of, f := t.Field(i).Type, &fields[i]
		switch tag := t.Field(i).Tag.Get("digest"); {
		case tag == "fold":
			if bit <<= 1; !open || bit == 0 {
				panic(fmt.Sprintf("world: %s.%s cannot be folded: it has to follow a bool, or one that is folded, at most seven to a byte", t, t.Field(i).Name))
			}
			f.write = folder(bit, of)
		case tag == "later" && !ends:
			panic(fmt.Sprintf("world: %s.%s cannot come last in the digest of an item, since its struct does not: fold it into a bool before it, or have it in the item itself", t, t.Field(i).Name))
		case tag == "later":
			f.later, f.write = t.Field(i).Name, writerOf(of)
		case of.Kind() == reflect.Struct:
			bit = 1
			f.write = writerOfStruct(of, ends && i == len(fields)-1)
		default:
			bit = 1
			f.write = writerOf(of)
		}
		open = of.Kind() == reflect.Bool && f.later == ""
		if of.Kind() == reflect.Map || of.Kind() == reflect.Slice {
			f.known = map[string]reflect.Value{}
		}
	}
	return fields
}

// sum hashes an item.
func (h *hasher) sum(item any) sum {
	b := h.write(append(h.buf[:0], h.kind), reflect.ValueOf(item).Elem())
	h.keep(b)
	return sumOf(b)
}

// write appends all fields of v.
func (h *hasher) write(b []byte, v reflect.Value) []byte {
	for i := range h.fields {
		if h.fields[i].later == "" {
			b = h.fields[i].write(b, v.Field(i))
		}
	}
	return h.writeLater(b, v)
}

// writeLater appends the fields that come last.
func (h *hasher) writeLater(b []byte, v reflect.Value) []byte {
	for i := range h.fields {
		if f := &h.fields[i]; f.later != "" && !v.Field(i).IsZero() {
			b = f.write(writeString(b, f.later), v.Field(i))
		}
	}
	return b
}

// largestKept is how large a buffer may be that is used again: that of a catalogue, which
// is as large as a thousand pods, is not needed again for minutes.
const largestKept = 64 << 10

// keep has the next item written over a buffer.
func (h *hasher) keep(b []byte) {
	if h.buf = b; cap(b) > largestKept {
		h.buf = nil
	}
}

// sumShared hashes an item that is new, and gives it the maps and slices of
// others before it instead of its own that are equal: the pods of a deployment
// have one set of labels, in one place in memory.
func (h *hasher) sumShared(item any) sum {
	b, v := append(h.buf[:0], h.kind), reflect.ValueOf(item).Elem()
	for i := range h.fields {
		if h.fields[i].later != "" {
			continue
		}
		from := len(b)
		b = h.fields[i].write(b, v.Field(i))
		h.fields[i].share(v.Field(i), b[from:])
	}
	b = h.writeLater(b, v)
	h.keep(b)
	return sumOf(b)
}

// The bounds of what is kept once: larger values are rarely equal, and values
// that were kept for items long gone are let go of with all others.
const (
	largestShared = 2_000
	mostShared    = 20_000
)

// share sets v to an equal value seen before, if there is one.
func (f *field) share(v reflect.Value, text []byte) {
	if f.known == nil || v.Len() == 0 || len(text) > largestShared {
		return
	}
	if same, known := f.known[string(text)]; known {
		v.Set(same)
		return
	}
	if len(f.known) == mostShared {
		clear(f.known)
	}
	f.known[string(text)] = reflect.ValueOf(v.Interface()) // not the field itself
}

func sumOf(b []byte) sum {
	d := sha256.Sum256(b)
	var s sum
	for i := range s {
		s[i] = binary.BigEndian.Uint64(d[8*i:])
	}
	return s
}

// writerOf builds the writer of a type once, so that hashing an item asks reflection for values only.
func writerOf(t reflect.Type) func([]byte, reflect.Value) []byte {
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte {
			if v.Bool() {
				return append(b, 1)
			}
			return append(b, 0)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return binary.AppendVarint(b, v.Int()) }
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return writeString(b, v.String()) }
	case reflect.Pointer:
		elem := writerOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			return elem(append(b, 1), v.Elem())
		}
	case reflect.Slice:
		elem := writerOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte {
			n := v.Len()
			b = binary.AppendVarint(b, int64(n))
			for i := range n {
				b = elem(b, v.Index(i))
			}
			return b
		}
	case reflect.Map:
		return writeMap
	case reflect.Struct:
		return writerOfStruct(t, false)
	}
	panic(fmt.Sprintf("world: items cannot hold a %s", t))
}

// writerOfStruct builds the writer of a struct, which may end its item.
func writerOfStruct(t reflect.Type, ends bool) func([]byte, reflect.Value) []byte {
	return (&hasher{fields: fieldsOf(t, ends)}).write
}

// folder writes a field with the tag `digest:"fold"`, which follows a bool, as a bit of that one's byte: another bool, or
// that there is something of a list, a number or a text, which then follows, so that it is the last that is folded. So
// items without it have the digest that they had before it was known.
func folder(bit byte, t reflect.Type) func([]byte, reflect.Value) []byte {
	if t.Kind() == reflect.Bool {
		return func(b []byte, v reflect.Value) []byte {
			if v.Bool() {
				b[len(b)-1] |= bit
			}
			return b
		}
	}
	write := writerOf(t)
	return func(b []byte, v reflect.Value) []byte {
		if v.IsZero() || t.Kind() == reflect.Slice && v.Len() == 0 {
			return b
		}
		b[len(b)-1] |= bit
		return write(b, v)
	}
}

func writeString(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

// writeMap writes a map of strings, the only kind of map that items hold.
func writeMap(b []byte, v reflect.Value) []byte {
	return appendLabels(b, v.Interface().(map[string]string))
}

func appendLabels(b []byte, m map[string]string) []byte {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	b = binary.AppendVarint(b, int64(len(keys)))
	for _, k := range keys {
		b = writeString(writeString(b, k), m[k])
	}
	return b
}
