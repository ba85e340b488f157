package oracle

import (
	"errors"
	"os"
	"testing"

	"github.com/tenon-sh/tenon/internal/kube"
)

// converse starts the oracle; it ends with the test.
func converse(t *testing.T) *Conversation {
	t.Helper()
	c, err := Converse(t.Context(), t.Output())
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	return c
}
