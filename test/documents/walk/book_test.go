package walk

import (
	"path/filepath"
	"testing"
)

// Where one behaviour was chosen for all documents, the tables name the choice.
func TestEveryDifferenceNamesItsDecision(t *testing.T) {
	lists, err := filepath.Glob("../*/items.tsv")
	if err != nil || len(lists) != 5 {
		t.Fatalf("lists of items: %v, %v", lists, err)
	}
	for _, l := range lists {
		b := openBook(filepath.Base(filepath.Dir(l)), l)
		if len(b.items) == 0 {
			t.Errorf("%s has no items", l)
		}
		for _, id := range b.undecided() {
			t.Errorf("item %s differs, and no decision says why", id)
		}
	}
}

// A report that the page is not true says in which lines.
func TestDifferences(t *testing.T) {
	got := differences("1 items\n| a | one |\n| b | two |\n", "1 items\n| a | one |\n| b | three |\n")
	if want := "the page:  | b | two |\nthis run:  | b | three |"; got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
