package damage

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// slow is how long one input may take at most. Most take less than a thousandth.
const slow = 20 * time.Second

// Outcome is what came of an input.
type Outcome struct {
	Read  bool   // it was accepted: the damage was none
	Said  string // why it was refused
	Fault string // what is wrong with that; empty: nothing
}

// Input is the input of a seed.
func (f Format) Input(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0x5eed)) //nolint:gosec // the same on every run
	return bent(r, pick(r, f.samples()))
}

// Try gives the input of a seed to what reads it.
func (f Format) Try(seed uint64) (out Outcome) {
	input := f.Input(seed)
	defer func() {
		if p := recover(); p != nil {
			out.Fault = fmt.Sprintf("it panics: %v\n%s", p, debug.Stack())
		}
	}()
	began := time.Now() //nolint:forbidigo // a watch on what may hang
	err := f.read(input)
	if took := time.Since(began); took > slow { //nolint:forbidigo // as above
		out.Fault = fmt.Sprintf("it takes %v", took)
	}
	if err == nil {
		out.Read = true
		return out
	}
	out.Said = err.Error()
	if wrong := f.wrong(out.Said); wrong != "" {
		out.Fault = fmt.Sprintf("%s: %q", wrong, out.Said)
	}
	return out
}

// wrong is what is wrong with a refusal.
func (f Format) wrong(said string) string {
	switch {
	case said == errHalf.Error() || strings.HasPrefix(said, errHalf.Error()+":"):
		return "it is refused and used"
	case strings.TrimSpace(said) == "":
		return "it is refused without a word"
	case strings.Contains(said, "runtime error") || strings.Contains(said, "goroutine ") || strings.Contains(said, "%!"):
		return "a person does not understand it"
	case len(said) > 20_000:
		return fmt.Sprintf("it is refused with %d characters", len(said))
	case !utf8.ValidString(said):
		return "what it says is no text"
	case strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }):
		return "it writes to the terminal what moves its cursor"
	case f.place == nil:
		return "it is refused, and nothing of its format is"
	case !f.place.MatchString(said):
		return "it does not say where"
	}
	return ""
}

// Samples says for each sample why it is refused; nil: it is not.
func (f Format) Samples() (out []error) {
	for _, s := range f.samples() {
		out = append(out, f.read(s))
	}
	return out
}
