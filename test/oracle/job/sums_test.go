package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/test/oracle"
)

// What a second run finds is added to what the first did.
func TestSumsAddUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sums.json")
	for range 2 {
		s, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		s.of("plans").add(oracle.Trial{Placed: 3, Refused: 1}, "abc")
		s.of("tiny").add(oracle.Trial{Placed: 2, Wrong: []string{"too dear"}}, "abc")
		if err := s.write(file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	want := &sums{Kinds: []*sum{
		{Kind: "plans", Seeds: 2, Placed: 6, Refused: 2, Commits: map[string]int{"abc": 2}},
		{Kind: "tiny", Seeds: 2, Placed: 4, Commits: map[string]int{"abc": 2}, Wrong: []disagreement{{1, "abc", "too dear"}, {2, "abc", "too dear"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const page = `| trial | seeds | placements | refusals | disagreements |
|---|--:|--:|--:|--:|
| plans | 1 to 2 | 6 | 2 | 0 |
| tiny | 1 to 2 | 4 | 0 | 2 |
| all by kube-scheduler | 2 | 6 | 2 | 0 |
`
	if diff := cmp.Diff(page, got.markdown()); diff != "" {
		t.Error(diff)
	}
	if got.wrong() != 2 || !strings.Contains(got.String(), "tiny, seed 2, at abc:\ntoo dear") {
		t.Errorf("%d disagreements:\n%s", got.wrong(), got)
	}
}

// The kind with the fewest clusters for its share is next, until there are enough of both.
func TestNext(t *testing.T) {
	s := &sums{}
	kinds := []string{"plans", "moves", "tiny"}
	var order []string
	for k := s.next(kinds, 3, 2); k != ""; k = s.next(kinds, 3, 2) {
		order = append(order, k)
		s.of(k).add(oracle.Trial{}, "")
	}
	if diff := cmp.Diff([]string{"plans", "moves", "tiny", "tiny", "plans"}, order); diff != "" {
		t.Error(diff)
	}
}

// Small clusters are quick, so there are many for each of the others.
func TestShare(t *testing.T) {
	s := &sums{}
	for range 10 * 51 {
		s.of(s.next([]string{"plans", "small"}, 1000, 0)).add(oracle.Trial{}, "")
	}
	if plans, small := s.of("plans").Seeds, s.of("small").Seeds; plans != 10 || small != 500 {
		t.Errorf("%d plans and %d small clusters, want 50 of these for each of those", plans, small)
	}
}

// What was wrong is tried again at another commit, and only there.
func TestDisagreementsAreTriedAgain(t *testing.T) {
	s := &sums{}
	for _, seed := range []string{"mended", "wrong"} {
		s.of("plans").add(oracle.Trial{Wrong: []string{seed}}, "old")
	}
	s.of("plans").Wrong = append(s.of("plans").Wrong, disagreement{2, "old", "wrong twice"})
	s.of("plans").add(oracle.Trial{Wrong: []string{"today's"}}, "new")
	err := s.again("new", func(_ string, seed uint64) (oracle.Trial, error) {
		switch seed {
		case 1:
			return oracle.Trial{}, nil
		case 2:
			return oracle.Trial{Wrong: []string{"still wrong"}}, nil
		}
		t.Errorf("seed %d is tried again at the same commit", seed)
		return oracle.Trial{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]disagreement{{2, "new", "still wrong"}, {3, "new", "today's"}}, s.of("plans").Wrong); diff != "" {
		t.Error(diff)
	}
}

// Asking for the usage is no failure.
func TestHelp(t *testing.T) {
	ok, err := run(t.Context(), []string{"-help"}, t.Output())
	if !ok || err != nil {
		t.Errorf("-help ends with %t, %v", ok, err)
	}
}
