package document_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/playground/document"
)

// Every story can be read, and tells of what it types and what there is to be seen.
func TestStories(t *testing.T) {
	if got := strings.Join(document.IDs(), " "); got != "000 001 002 003 004" {
		t.Errorf("the documents are %s", got)
	}
	for _, id := range document.IDs() {
		d, err := document.Load(id)
		if err != nil {
			t.Error(err)
			continue
		}
		s := d.Surroundings
		if s.Title == "" || s.Region == "" || s.Cluster == "" || s.Kubernetes == "" || d.Says == "" || len(d.Steps) == 0 {
			t.Errorf("document %s begins with %+v, %q and %d steps", id, s, d.Says, len(d.Steps))
		}
		for _, step := range d.Steps {
			if step.Says == "" || len(step.Commands) == 0 {
				t.Errorf("document %s, %s: it says %q and types %d times", id, step.Name, step.Says, len(step.Commands))
			}
			for _, c := range step.Commands {
				if strings.TrimSpace(c.Text) == "" || strings.Contains(c.Text, "RECONSTRUCTED") || strings.Contains(c.Text, "\n# (") {
					t.Errorf("document %s, %s types\n%s", id, step.Name, c.Text)
				}
			}
		}
	}
}

func TestNoSuchDocument(t *testing.T) {
	if _, err := document.Load("005"); err == nil || !strings.Contains(err.Error(), "000, 001, 002, 003, 004") {
		t.Errorf("asked for another: %v", err)
	}
	d, err := document.Load("000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Step("dance"); err == nil || !strings.Contains(err.Error(), "dance") {
		t.Errorf("asked for another step: %v", err)
	}
}
