package kubelet

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// commands returns the words of each command of a script, with quotes taken off. It knows as much of a shell as the
// user data of machines needs: quotes, escapes, line continuations and comments.
func commands(script string) [][]string {
	script = strings.NewReplacer("\\\r\n", " ", "\\\n", " ", "`\n", " ", "\r\n", "\n").Replace(script)
	var out [][]string
	for _, line := range strings.Split(script, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, split(line))
		}
	}
	return out
}

// split cuts a line into words.
func split(line string) []string {
	var words []string
	var word strings.Builder
	inWord, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// options yields --name=value and --name value of a command's words.
func options(words []string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i, w := range words {
			name, ok := strings.CutPrefix(w, "--")
			if !ok {
				continue
			}
			name, value, ok := strings.Cut(name, "=")
			if !ok && i+1 < len(words) {
				value = words[i+1]
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
