package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func write(w http.ResponseWriter, out any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status := http.StatusBadRequest
		var refused *market.Error
		if errors.As(err, &refused) && strings.HasSuffix(refused.Code, "NotFound") {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		out = map[string]string{"error": err.Error()}
	}
	if out == nil {
		out = map[string]bool{"ok": true}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(out)
}

// read returns the fields of a request. Numbers and truth values may be written as text, as a command line has them. A name
// that is not one of the fields is refused with those that are.
func read[T any](r *http.Request) (T, error) {
	var in T
	var given map[string]json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20)).Decode(&given); err != nil {
		return in, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	v := reflect.ValueOf(&in).Elem()
	names := fieldsOf(v.Type())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		k := slices.IndexFunc(names, func(n field) bool { return n.name == name })
		if k < 0 {
			return in, unknown(name, names)
		}
		if err := set(v.Field(names[k].index), given[name]); err != nil {
			return in, fmt.Errorf("%s: %w", name, err)
		}
	}
	return in, nil
}

// set gives a field the value that a request has for it.
func set(f reflect.Value, raw json.RawMessage) error {
	var text string
	if f.Kind() != reflect.String && json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	if json.Unmarshal(raw, f.Addr().Interface()) == nil {
		return nil
	}
	want, kind := "a number", f.Kind()
	if kind == reflect.Pointer {
		kind = f.Type().Elem().Kind()
	}
	switch kind {
	case reflect.Bool:
		want = "true or false"
	case reflect.String:
		want = "text"
	case reflect.Int:
		want = "a whole number"
	default:
	}
	return fmt.Errorf("it is %s, not %s", want, raw)
}

func unknown(name string, fields []field) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	all := strings.Join(names, ", ")
	if meant := label.Meant(name, names); meant != "" {
		return fmt.Errorf("there is no %q: did you mean %q? It takes %s", name, meant, all)
	}
	return fmt.Errorf("there is no %q: it takes %s", name, all)
}

// field is one that a request may have.
type field struct {
	name  string
	index int
}

// fieldsOf returns the fields that a request may have, in order.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for k := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(k).Tag.Get("json"), ","); !slices.Contains(workedOut, name) {
			fields = append(fields, field{name, k})
		}
	}
	return fields
}

// workedOut are the fields of a rule that are filled in here.
var workedOut = []string{"id", "until"}
