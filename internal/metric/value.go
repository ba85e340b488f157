package metric

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxValue is how many bytes of a label value are shown. Names of Kubernetes
// are shorter; only text that a kubelet or a cloud writes can be longer.
const maxValue = 256

// clean returns label values that every reader of metrics takes. Values come
// from objects that others write: by protobuf the API server accepts bytes that
// are no UTF-8, for which the client library panics or fails the whole scrape.
// What is valid, nearly all there is, is returned as it came.
func clean(values []string) []string {
	for i, v := range values {
		if len(v) <= maxValue && utf8.ValidString(v) {
			continue
		}
		out := slices.Clone(values)
		for j := i; j < len(out); j++ {
			out[j] = value(out[j])
		}
		return out
	}
	return values
}

// value is one label value, valid and not too long.
func value(v string) string {
	v = strings.ToValidUTF8(v, string(utf8.RuneError))
	if len(v) <= maxValue {
		return v
	}
	end := maxValue
	for !utf8.RuneStart(v[end]) {
		end--
	}
	return v[:end]
}
