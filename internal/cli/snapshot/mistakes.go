package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
)

// unreadable says where in its file a document cannot be read, and what may
// have been meant.
func unreadable(d document, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		text := bytes.TrimLeft(d.data, " \t\r\n")
		before := len(d.data) - len(text) + min(int(syntax.Offset), len(text))
		err = fmt.Errorf("line %d: %w", d.line+bytes.Count(d.data[:before], []byte("\n")), err)
	case strings.HasPrefix(err.Error(), "yaml: "):
		err = errors.New(inFile(d, strings.TrimPrefix(err.Error(), "yaml: ")))
	case strings.HasPrefix(err.Error(), "unsupported map key"):
		err = errors.New("a key is null, where text belongs: there is nothing, ~ or null before a colon")
	default:
		err = plainly(err)
	}
	if hint := hintOf(d, err.Error()); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// inFile turns the lines that the YAML reader counts from the start of the
// document into lines of the file.
func inFile(d document, text string) string {
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	return regexp.MustCompile(`\bline (\d+)`).ReplaceAllStringFunc(text, func(line string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(line, "line "))
		if err != nil {
			return line
		}
		return fmt.Sprintf("line %d", d.line+n-1)
	})
}

// hintOf is what a document that cannot be read may have been meant to be.
func hintOf(d document, wrong string) string {
	switch {
	case bytes.Contains(d.data, []byte("{{")):
		return "it looks like a template: render it first, as with helm template"
	case strings.Contains(wrong, "cannot start any token") && bytes.Contains(d.data, []byte("\t")):
		return "YAML is indented with blanks, not with tabs"
	case strings.Contains(wrong, "UTF-8"):
		return "save the file as UTF-8"
	case strings.Contains(wrong, "unexpected end of JSON"):
		return "is the file complete?"
	case strings.Contains(wrong, "unsupported value: "):
		return "an amount is a number such as 250m, 2 or 4Gi"
	}
	return ""
}

// locate adds to an error about a quantity the path of the field, which the
// decoder of quantities does not know.
func locate(data []byte, err error) error {
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return err
	}
	if path, value, ok := badQuantity(tree, "", false); ok {
		return fmt.Errorf("%s: %s is not a quantity such as 250m, 2 or 4Gi", path, value)
	}
	return plainly(err)
}

// plainly says without words of Go that something is not of the kind that belongs there.
func plainly(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "a map", reflect.Struct: "a map",
		reflect.Int: "a whole number", reflect.Int32: "a whole number", reflect.Int64: "a whole number",
	}
	is, want := wrong.Value, kinds[wrong.Type.Kind()]
	if say := map[string]string{"string": "text", "array": "a list", "object": "a map", "bool": "true or false", "number": "a number"}[is]; say != "" {
		is = say
	}
	switch {
	case wrong.Field == "":
		return fmt.Errorf("it is %s: every document is a map with apiVersion and kind", is)
	case want == "":
		return err
	case want == "text" && wrong.Value == "bool":
		return fmt.Errorf("%s is true or false, where text belongs; YAML takes y, n, yes, no, on and off for that: put it in quotes", wrong.Field)
	}
	if n, whole := strings.CutPrefix(wrong.Value, "number "); whole && want == "a whole number" && !strings.ContainsAny(n, ".eE") {
		return fmt.Errorf("%s is %s, which is more than the field can hold", wrong.Field, n)
	}
	return fmt.Errorf("%s is %s, where %s belongs", wrong.Field, strings.TrimPrefix(is, "number "), want)
}

// badQuantity walks to the first value below requests, limits, capacity,
// allocatable or overhead that is not a quantity.
func badQuantity(v any, path string, amounts bool) (string, string, bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := strings.TrimPrefix(path+"."+k, ".")
			m, isMap := v[k].(map[string]any)
			if isMap && amounts {
				return here, "a map", true
			}
			if isMap && slices.Contains([]string{"requests", "limits", "capacity", "allocatable", "overhead"}, k) {
				if p, s, ok := badQuantity(m, here, true); ok {
					return p, s, ok
				}
				continue
			}
			if p, s, ok := badQuantity(v[k], here, amounts); ok {
				return p, s, ok
			}
		}
	case []any:
		for i, e := range v {
			if p, s, ok := badQuantity(e, fmt.Sprintf("%s[%d]", path, i), false); ok {
				return p, s, ok
			}
		}
		if amounts {
			return path, "a list", true
		}
	case string:
		if _, err := amount.Parse(v); amounts && err != nil {
			return path, strconv.Quote(v), true
		}
	case bool:
		if amounts {
			return path, strconv.FormatBool(v), true
		}
	}
	return "", "", false
}
