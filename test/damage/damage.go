package damage

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// tokens are put where they do not belong.
func tokens() []string {
	return []string{
		"\x00", "\xff\xfe", "\ufeff", "\u202e", "\t", "\r\n", "'", `"`, "`", "%", "%s%n", "&a", "*a", "<<: ", "!!binary ", "|", ">", "- ", "? ", ": ", "#", "---\n", "...\n",
		"{", "}", "[", "]", ",", "null", "~", "true", "yes", "NaN", ".inf", "-1", "0x10", "1e400", "-1e-400", "99999999999999999999999", "9223372036854775808", "1.5", "\\u0000", "\\ud800", "\x1b[2J",
		"{{ .Values.x }}", "$(reboot)", "../../etc/passwd", strings.Repeat("[", 2000), strings.Repeat("{\"a\":", 500), strings.Repeat("x", 5000), "é", "\U0001F600",
	}
}

// odd are values that stand where another is wanted.
func odd() []any {
	deep := any("end")
	for range 200 {
		deep = []any{deep}
	}
	return []any{
		nil, true, "", " ", "x", "-1", "0", "NaN", "1e400", "5m", "1Gi", "10%", "200%", "\x00", "\u202e", "a/b/c", strings.Repeat("long", 500), -1, 0, 1, 1.5, 1e300, -1e300, int64(1) << 62,
		[]any{},
		[]any{nil},
		[]any{"x", "x"},
		map[string]any{},
		map[string]any{"": ""},
		map[string]any{"a": map[string]any{"b": []any{1, "2", nil}}},
		deep,
	}
}

// bent is a sample with something wrong in it: in its bytes, or, if it is YAML or JSON, in what they mean.
func bent(r *rand.Rand, sample []byte) []byte {
	out := slices.Clone(sample)
	for range 1 + r.IntN(3) {
		if r.IntN(3) > 0 {
			if tree, ok := inTree(r, out); ok {
				out = tree
				continue
			}
		}
		out = inBytes(r, out)
	}
	return out
}

// inBytes damages text as a bad disk, a bad editor or a bad network does.
func inBytes(r *rand.Rand, b []byte) []byte {
	if len(b) == 0 {
		return []byte(pick(r, tokens()))
	}
	at := r.IntN(len(b))
	end := min(at+1+r.IntN(1+r.IntN(40)), len(b))
	switch r.IntN(9) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
		return b
	case 1:
		b[at] = byte(r.IntN(256))
		return b
	case 2:
		return slices.Delete(b, at, end)
	case 3:
		return slices.Insert(b, at, slices.Clone(b[at:end])...)
	case 4:
		return b[:at]
	case 5:
		return b[at:]
	case 6: // two lines change places, or one comes twice
		lines := bytes.SplitAfter(b, []byte("\n"))
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		if r.IntN(2) == 0 {
			lines[i], lines[j] = lines[j], lines[i]
		} else {
			lines = slices.Insert(lines, i, lines[j])
		}
		return bytes.Join(lines, nil)
	case 7:
		return slices.Replace(b, at, end, []byte(pick(r, tokens()))...)
	default:
		return slices.Insert(b, at, []byte(pick(r, tokens()))...)
	}
}

// inTree damages one document of a text that is YAML or JSON; false if it is neither.
func inTree(r *rand.Rand, text []byte) ([]byte, bool) {
	docs := bytes.Split(text, []byte("\n---\n"))
	lines := bytes.HasPrefix(text, []byte("{"))
	if lines { // JSON, one to a line
		docs = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	i := r.IntN(len(docs))
	var tree any
	if yaml.Unmarshal(docs[i], &tree) != nil || tree == nil {
		return nil, false
	}
	tree = change(r, tree)
	doc, err := json.Marshal(tree)
	if err != nil {
		return nil, false
	}
	if !lines && r.IntN(2) == 0 {
		if doc, err = yaml.JSONToYAML(doc); err != nil {
			return nil, false
		}
	}
	docs[i] = doc
	if lines {
		return append(bytes.Join(docs, []byte("\n")), '\n'), true
	}
	return bytes.Join(docs, []byte("\n---\n")), true
}

// change damages a value that is found by going down a tree at random.
func change(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return pick(r, odd())
		}
		k := pick(r, keys)
		switch r.IntN(12) {
		case 0:
			delete(v, k)
		case 1:
			v[k] = pick(r, odd())
		case 2: // a slip in a name, as another case or another word
			v[pick(r, []string{strings.ToUpper(k), k + "s", k[:len(k)/2], " " + k, k + "\u200b", pick(r, keys)})] = v[k]
			delete(v, k)
		case 3:
			v[k] = []any{v[k]}
		case 4:
			v[k] = v[pick(r, keys)]
		default:
			v[k] = change(r, v[k])
		}
		return v
	case []any:
		if len(v) == 0 {
			return []any{pick(r, odd())}
		}
		i := r.IntN(len(v))
		switch r.IntN(8) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			return append(v, v[i])
		case 2:
			return v[i]
		case 3:
			return append(v, pick(r, odd()))
		default:
			v[i] = change(r, v[i])
		}
		return v
	case string:
		if r.IntN(2) == 0 {
			return string(inBytes(r, []byte(v)))
		}
	}
	return pick(r, odd())
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
