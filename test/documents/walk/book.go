package walk

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A Book is the list of what one document shows, and what became of it in this run.
//
// The list is items.tsv beside the test: number, what the document shows, and
// for what the run does not show itself what stands for it: "test <folder>
// <name>: …" names a test that does, "differs: …" the decision, "not yet: …"
// what is missing.
type Book struct {
	document string
	items    []item

	mu    sync.Mutex
	shown map[string]string
}

type item struct{ id, what, instead string }

// Main runs the tests of a document and ends the process. With WRITE set in
// the environment it writes the document's part of docs/documents.md; otherwise a run of all
// tests fails when that part is not what it has shown.
func Main(m *testing.M, b *Book) {
	flag.Parse()
	code := m.Run()
	some := flag.Lookup("test.run").Value.String() != "" || testing.Short()
	if code == 0 && !some && len(b.shown) > 0 {
		if err := b.keep(os.Getenv("WRITE") != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// OpenBook reads the list of a document, in the working directory of its test.
func OpenBook(document string) *Book { return openBook(document, "items.tsv") }

func openBook(document, file string) *Book {
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err) // the list stands beside the test
	}
	b := &Book{document: document, shown: map[string]string{}}
	for line := range strings.Lines(string(data)) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "")
		if f[0] != "" {
			b.items = append(b.items, item{f[0], f[1], f[2]})
		}
	}
	return b
}

// Shows notes that an item was seen, and how. It says nothing once the test has failed.
func (b *Book) Shows(t *testing.T, id, how string) {
	t.Helper()
	if !slices.ContainsFunc(b.items, func(i item) bool { return i.id == id }) {
		t.Errorf("document %s has no item %s", b.document, id)
	}
	if t.Failed() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown[id] = how
}

// rows are the lines of the table, and how many items there are of each verdict.
func (b *Book) rows() (rows []string, counts map[string]int, err error) {
	counts = map[string]int{}
	var errs []error
	for _, i := range b.items {
		how, verdict := b.shown[i.id], "pass"
		if how == "" {
			kind, rest, _ := strings.Cut(i.instead, " ")
			switch strings.TrimSuffix(kind, ":") {
			case "test":
				test, says, _ := strings.Cut(rest, ": ")
				errs = append(errs, exists(test))
				folder, name, _ := strings.Cut(test, " ")
				how = fmt.Sprintf("%s (`%s`, %s)", says, folder, name)
			case "differs":
				how, verdict = rest, "differs"
			case "not":
				_, how, _ = strings.Cut(rest, " ")
				verdict = "not yet"
			default:
				how, verdict = "", "not yet"
			}
		}
		counts[verdict]++
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", i.id, i.what, how, verdict))
	}
	return rows, counts, errors.Join(errs...)
}

// undecided are the items that differ from what the document shows and name no decision.
func (b *Book) undecided() []string {
	var out []string
	for _, i := range b.items {
		if strings.HasPrefix(i.instead, "differs") && !regexp.MustCompile(`^differs: decision \d+: `).MatchString(i.instead) {
			out = append(out, i.id)
		}
	}
	return out
}

// exists checks that there is a test, told as its folder and its name.
func exists(test string) error {
	folder, name, _ := strings.Cut(test, " ")
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), "func "+name+"(") {
			return nil
		}
	}
	return fmt.Errorf("items.tsv: there is no test %s in %s", name, folder)
}

// root is the top of the tree, from the folder of a document's test.
const root = "../../.."

// keep compares the document's part of the page with what was shown, or writes it.
func (b *Book) keep(write bool) error {
	rows, counts, err := b.rows()
	if err != nil {
		return err
	}
	part := fmt.Sprintf("%d items: %d shown, %d differ, %d not yet.\n\n| item | what the document shows | how it is shown | |\n|---|---|---|---|\n%s\n",
		len(rows), counts["pass"], counts["differs"], counts["not yet"], strings.Join(rows, "\n"))
	file := filepath.Join(root, "docs", "documents.md")
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil { // several documents are run side by side
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+b.document+": made by WRITE=1 make test-documents -->\n", "<!-- end of "+b.document+" -->"
	head, rest, ok := strings.Cut(string(data), begin)
	was, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		return fmt.Errorf("%s has no part for document %s", file, b.document)
	case was == part:
		return nil
	case !write:
		return fmt.Errorf("%s does not say what the run of document %s has shown: run `WRITE=1 make test-documents`, or, if another run shows something else, have the test note what every run shows\n%s", file, b.document, differences(was, part))
	}
	return os.WriteFile(file, []byte(total(head+begin+part+end+after)), 0o644)
}

// differences are the lines that only one of two texts has.
func differences(was, is string) string {
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	var out []string
	for _, l := range before {
		if !slices.Contains(after, l) {
			out = append(out, "the page:  "+l)
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			out = append(out, "this run:  "+l)
		}
	}
	return strings.Join(out, "\n")
}

// total puts the sums of all documents' counts where the page has them.
func total(page string) string {
	sums := make([]int, 4)
	for _, m := range regexp.MustCompile(`(?m)^(\d+) items: (\d+) shown, (\d+) differ, (\d+) not yet\.$`).FindAllStringSubmatch(page, -1) {
		for i := range sums {
			n, err := strconv.Atoi(m[i+1])
			sums[i] += cmp.Or(n, 0)
			if err != nil {
				return page
			}
		}
	}
	all := fmt.Sprintf("**%d items in all: %d shown, %d differ, %d not yet.**", sums[0], sums[1], sums[2], sums[3])
	return regexp.MustCompile(`\*\*\d+ items in all: .*\*\*`).ReplaceAllString(page, all)
}
