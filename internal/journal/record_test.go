package journal_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/journal"
)

// A file that is something else says what belongs there.
func TestOtherFilesAreNoJournal(t *testing.T) {
	for _, text := range []string{"# manifests\napiVersion: v1\n", "\x00\x01", "<html>"} {
		err := journal.Read(strings.NewReader(text), func(journal.Entry) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "it holds no decisions: want a journal, as a controller gives at /journal, or the world of a decision") {
			t.Errorf("%q: it says %v", text, err)
		}
	}
}
