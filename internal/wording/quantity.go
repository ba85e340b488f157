package wording

import (
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
)

// Resources writes requests as {"cpu":"1","memory":"256M"}.
func Resources(l amount.List) string {
	parts := make([]string, 0, len(l))
	for _, e := range l {
		if e.Value != 0 {
			parts = append(parts, strconv.Quote(e.Name)+":"+strconv.Quote(quantity(e.Name, e.Value)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quantity writes a value in the shorter of the binary and the decimal form,
// which is how it will have been written.
func quantity(name string, v int64) string {
	binary := amount.Text(name, v)
	if decimal := decimal(v); len(decimal) < len(binary) {
		return decimal
	}
	return binary
}

// decimal writes a value with the largest of the suffixes k, M, G, T that leaves it whole.
func decimal(v int64) string {
	if v%amount.Unit != 0 {
		return strconv.FormatInt(v, 10) + "m"
	}
	whole, suffix := v/amount.Unit, ""
	for _, s := range []string{"k", "M", "G", "T"} {
		if whole == 0 || whole%1000 != 0 {
			break
		}
		whole, suffix = whole/1000, s
	}
	return strconv.FormatInt(whole, 10) + suffix
}
