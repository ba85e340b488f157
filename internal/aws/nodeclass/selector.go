package nodeclass

import (
	"fmt"
	"slices"
)

// Selector finds things of EC2. What it says must all hold.
type Selector struct {
	Tags []Tag
	IDs  []string
	Name string
}

// Tag is a tag that must be there; with no values, any value will do.
type Tag struct {
	Key    string
	Values []string // one of them
}

// Key names the selector, so that equal ones are asked for once, and no others:
// a value may have any character that could stand between two of them.
func (s Selector) Key() string { return fmt.Sprintf("%q", s) }

// Meets reports whether a thing of that id, name and tags is one that the
// selector means. It holds a server to the filters it was sent: one that does
// not know a filter may answer with more than was asked for. What an answer
// leaves out, an empty name or no tags at all, is believed to be right.
func (s Selector) Meets(id, name string, tags map[string]string) bool {
	if len(s.IDs) > 0 && !slices.Contains(s.IDs, id) {
		return false
	}
	if s.Name != "" && name != "" && !like(s.Name, name) {
		return false
	}
	return len(tags) == 0 || !slices.ContainsFunc(s.Tags, func(t Tag) bool { return !t.in(tags) })
}

func (t Tag) in(tags map[string]string) bool {
	have, ok := tags[t.Key]
	return ok && (len(t.Values) == 0 || slices.ContainsFunc(t.Values, func(want string) bool { return like(want, have) }))
}

// like matches as EC2's filters do: an asterisk stands for any text, a question
// mark for one character, and what follows a backslash for itself.
func like(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			for j := range len(text) + 1 {
				if like(pattern[i+1:], text[j:]) {
					return true
				}
			}
			return false
		case text == "":
			return false
		case c == '\\' && i+1 < len(pattern):
			i++
			if pattern[i] != text[0] {
				return false
			}
		case c != '?' && c != text[0]:
			return false
		}
		text = text[1:]
	}
	return text == ""
}
