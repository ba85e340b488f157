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
// that different items never write the same bytes.
type hasher struct {
	kind  byte // keeps a pod and a node of equal bytes apart
	write func(buf []byte, v reflect.Value) []byte
	buf   []byte
}

func newHasher(kind byte, t reflect.Type) *hasher { return &hasher{kind: kind, write: writerOf(t)} }

func (h *hasher) sum(item any) sum {
	h.buf = h.write(append(h.buf[:0], h.kind), reflect.ValueOf(item).Elem())
	d := sha256.Sum256(h.buf)
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
		fields := make([]func([]byte, reflect.Value) []byte, t.NumField())
		for i := range fields {
			fields[i] = writerOf(t.Field(i).Type)
		}
		return func(b []byte, v reflect.Value) []byte {
			for i, f := range fields {
				b = f(b, v.Field(i))
			}
			return b
		}
	}
	panic(fmt.Sprintf("world: items cannot hold a %s", t))
}

func writeString(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

// writeMap writes a map of strings, the only kind of map that items hold.
func writeMap(b []byte, v reflect.Value) []byte {
	m := v.Interface().(map[string]string)
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
