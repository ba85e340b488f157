package verb_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

func TestStatus(t *testing.T) {
	tests := map[string]struct {
		why  string
		err  error
		want int
	}{
		"Done":        {"No error is success.", nil, verb.OK},
		"Failed":      {"Any error is a failure.", io.ErrUnexpectedEOF, verb.Failed},
		"Unusable":    {"Unless it was the input's fault,", verb.BadInputf("line 3"), verb.Unusable},
		"Wrapped":     {"however often it was wrapped since.", fmt.Errorf("read: %w", verb.BadInput(io.EOF)), verb.Unusable},
		"NothingBad":  {"Blaming the input for nothing is no error.", verb.BadInput(nil), verb.OK},
		"Joined":      {"One bad input among failures is still bad input.", errors.Join(io.EOF, verb.BadInput(io.EOF)), verb.Unusable},
		"StillItself": {"A failure is not bad input because it looks like one.", errors.New("line 3"), verb.Failed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verb.Status(tc.err); got != tc.want {
				t.Errorf("%s\nstatus %d, want %d", tc.why, got, tc.want)
			}
		})
	}
	if !errors.Is(verb.BadInput(io.EOF), io.EOF) {
		t.Error("blaming the input hides what went wrong")
	}
}
