package awsapi

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// filter is a condition of a describe call: one of the values must match. Conditions add up.
type filter struct {
	Name  string
	Value []string
}

// maxFilterValues is how many values all filters of one call may have.
const maxFilterValues = 200

// facts answers what a resource's filterable fields are; false for a filter that does not exist.
type facts func(name string) ([]string, bool)

// table is facts from a map of single values.
func table(fields map[string]string) facts {
	return func(name string) ([]string, bool) {
		v, ok := fields[name]
		return []string{v}, ok
	}
}

// keep returns the resources that all filters let through.
func keep[T any](resources []T, filters []filter, tags func(T) market.Tags, of func(T) facts) ([]T, error) {
	total := 0
	for _, f := range filters {
		total += len(f.Value)
	}
	if total > maxFilterValues {
		return nil, market.Errorf("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", maxFilterValues)
	}
	if len(filters) == 0 {
		return resources, nil
	}
	var none T
	for _, f := range filters {
		if _, ok := values(f.Name, tags(none), of(none)); !ok {
			return nil, market.Errorf(market.InvalidParameterValue, "The filter '%s' is invalid", f.Name)
		}
	}
	var out []T
	for _, r := range resources {
		if passes(filters, tags(r), of(r)) {
			out = append(out, r)
		}
	}
	return out, nil
}

func passes(filters []filter, tags market.Tags, of facts) bool {
	for _, f := range filters {
		have, _ := values(f.Name, tags, of)
		if !slices.ContainsFunc(have, func(v string) bool {
			return slices.ContainsFunc(f.Value, func(pattern string) bool { return like(pattern, v) })
		}) {
			return false
		}
	}
	return true
}

func values(name string, tags market.Tags, of facts) ([]string, bool) {
	switch {
	case name == "tag-key":
		return slices.Sorted(maps.Keys(tags)), true
	case strings.HasPrefix(name, "tag:"):
		v, ok := tags[strings.TrimPrefix(name, "tag:")]
		if !ok {
			return nil, true
		}
		return []string{v}, true
	default:
		return of(name)
	}
}

// like matches EC2's patterns: * for any text, ? for one character, \ to take the next one literally.
func like(pattern, text string) bool {
	for pattern != "" {
		switch pattern[0] {
		case '*':
			for k := 0; k <= len(text); k++ {
				if like(pattern[1:], text[k:]) {
					return true
				}
			}
			return false
		case '?':
			if text == "" {
				return false
			}
		case '\\':
			if len(pattern) > 1 {
				pattern = pattern[1:]
			}
			fallthrough
		default:
			if text == "" || text[0] != pattern[0] {
				return false
			}
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}

// pages says how many results a call may return at once.
type pages struct {
	least, most int
	usual       int // when the caller names none; 0: everything
}

// cut returns one page and the token of the next; the token is empty on the last page.
func cut[T any](all []T, p pages, asked int, token string) ([]T, string, error) {
	if asked != 0 && (asked < p.least || asked > p.most) {
		return nil, "", market.Errorf(market.InvalidParameterValue, "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", asked, p.least, p.most)
	}
	from := 0
	if token != "" {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		n, found := strings.CutPrefix(string(raw), "from ")
		if from, err = atoi(n, err); err != nil || !found || from < 0 || from > len(all) {
			return nil, "", market.Errorf("InvalidNextToken", "The token '%s' is invalid", token)
		}
	}
	size := asked
	if size == 0 {
		size = p.usual
	}
	if size == 0 || from+size >= len(all) {
		return all[from:], "", nil
	}
	next := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "from %d", from+size))
	return all[from : from+size], next, nil
}

func atoi(text string, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
