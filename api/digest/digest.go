// Package digest hashes the shape of a value, so that two objects that ask for the same have the same hash.
//
// Zero values count for nothing, so that a field added to the API changes no hash; a slice is a set; the order of a map
// does not show; a pointer to a zero value is not a zero value. A field tagged `digest:"-"` is left out.
package digest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// Version names this way of hashing. Hashes of different versions are never compared.
const Version = "tenon-v1"

// Canonical is a value with several spellings; the digest sees the one it returns.
type Canonical interface{ Canonical() string }

// Of returns the hash of v in decimal.
func Of(v any) string { return strconv.FormatUint(of(reflect.ValueOf(v)), 10) }

func of(v reflect.Value) uint64 {
	if !v.IsValid() {
		return 0
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case Canonical:
			return mix("text", x.Canonical())
		case resource.Quantity:
			return mix("quantity", strconv.FormatInt(x.MilliValue(), 10))
		case runtime.RawExtension:
			return ofJSON(x.Raw)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return of(v.Elem())
	case reflect.Struct:
		return ofStruct(v)
	case reflect.Slice, reflect.Array:
		return ofSlice(v)
	case reflect.Map:
		return ofMap(v)
	case reflect.String:
		return mix("text", v.String())
	case reflect.Bool:
		return mix("bool", strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mix("number", strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return mix("number", strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return mix("number", strconv.FormatFloat(v.Float(), 'g', -1, 64))
	default:
		panic(fmt.Sprintf("digest: a %s has no hash", v.Type()))
	}
}

// ofStruct adds up its fields that say something, each under its name.
func ofStruct(v reflect.Value) uint64 {
	var sum uint64
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Tag.Get("digest") == "-" || empty(v.Field(i)) {
			continue
		}
		sum += mix("field", f.Name, of(v.Field(i)))
	}
	return mix("struct", sum)
}

// ofSlice hashes the set of elements, so neither order nor repetition shows.
func ofSlice(v reflect.Value) uint64 {
	set := make([]any, 0, v.Len()+1)
	hashes := make([]uint64, 0, v.Len())
	for i := range v.Len() {
		hashes = append(hashes, of(v.Index(i)))
	}
	slices.Sort(hashes)
	set = append(set, "set")
	for _, h := range slices.Compact(hashes) {
		set = append(set, h)
	}
	return mix(set...)
}

func ofMap(v reflect.Value) uint64 {
	var sum uint64
	for it := v.MapRange(); it.Next(); {
		sum += mix("entry", of(it.Key()), of(it.Value()))
	}
	return mix("map", sum)
}

func ofJSON(raw []byte) uint64 {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return mix("text", string(raw))
	}
	return of(reflect.ValueOf(v))
}

// empty is a field that is not filled in: zero, or a list or map without entries.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// mix hashes parts, strings and numbers, so that no two lists of parts read the same.
func mix(parts ...any) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, p := range parts {
		switch x := p.(type) {
		case string:
			binary.LittleEndian.PutUint64(b[:], uint64(len(x)))
			h.Write(b[:])
			h.Write([]byte(x))
		case uint64:
			binary.LittleEndian.PutUint64(b[:], x)
			h.Write(b[:])
		}
	}
	return h.Sum64()
}
