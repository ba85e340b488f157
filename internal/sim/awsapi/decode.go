package awsapi

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// branch is a parameter with its parts: "Filter.1.Name=x" is Filter → 1 → Name.
type branch struct {
	text string
	set  bool
	kids map[string]*branch
}

// decode reads the parameters of a query request into a struct whose fields are named like them,
// or by a tag `wire`. A parameter without a field is refused as AWS does.
func decode(form url.Values, into any) error {
	root := &branch{}
	for key, values := range form {
		switch key {
		case "Action", "Version":
			continue
		}
		b := root
		for part := range strings.SplitSeq(key, ".") {
			if b.kids == nil {
				b.kids = map[string]*branch{}
			}
			if b.kids[part] == nil {
				b.kids[part] = &branch{}
			}
			b = b.kids[part]
		}
		b.text, b.set = values[0], true
	}
	return root.into(reflect.ValueOf(into).Elem(), "")
}

func (b *branch) into(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return b.into(v.Elem(), path)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return b.moment(v, path)
		}
		return b.fields(v, path)
	case reflect.Slice:
		return b.items(v, path)
	default:
		return b.scalar(v, path)
	}
}

func (b *branch) fields(v reflect.Value, path string) error {
	index := map[string][]int{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if !f.Anonymous {
			index[cmp.Or(f.Tag.Get("wire"), f.Name)] = f.Index
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.kids)) {
		i, ok := index[name]
		if !ok {
			return market.Errorf("UnknownParameter", "The parameter %s is not recognized", strings.TrimPrefix(path+"."+name, "."))
		}
		if err := b.kids[name].into(v.FieldByIndex(i), strings.TrimPrefix(path+"."+name, ".")); err != nil {
			return err
		}
	}
	return nil
}

func (b *branch) items(v reflect.Value, path string) error {
	kids := b.kids
	if m := kids["member"]; m != nil {
		kids = m.kids
	}
	var order []int
	for k := range kids {
		n, err := strconv.Atoi(k)
		if err != nil || strconv.Itoa(n) != k { // 00 and +1 are no numbers of items
			return market.Errorf("UnknownParameter", "The parameter %s.%s is not recognized", path, k)
		}
		order = append(order, n)
	}
	slices.Sort(order)
	v.Set(reflect.MakeSlice(v.Type(), len(order), len(order)))
	for i, n := range order {
		name := strconv.Itoa(n)
		if err := kids[name].into(v.Index(i), path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (b *branch) scalar(v reflect.Value, path string) error {
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(b.text)
	case reflect.Bool:
		var x bool
		x, err = strconv.ParseBool(b.text)
		v.SetBool(x)
	case reflect.Int, reflect.Int64:
		var x int64
		x, err = strconv.ParseInt(b.text, 10, 64)
		v.SetInt(x)
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(b.text, 64)
		v.SetFloat(x)
	}
	if err != nil || len(b.kids) > 0 {
		return invalid(b.text, path)
	}
	return nil
}

func (b *branch) moment(v reflect.Value, path string) error {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(form, b.text); err == nil {
			v.Set(reflect.ValueOf(t))
			return nil
		}
	}
	return invalid(b.text, path)
}

func invalid(value, path string) error {
	return market.Errorf(market.InvalidParameterValue, "Value (%s) for parameter %s is invalid.", value, path)
}
