package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tenon-sh/tenon/test/oracle"
)

// sums are what all runs together have found, by kind of trial.
type sums struct {
	Kinds []*sum `json:"kinds"`
}

// sum is what was found by one kind.
type sum struct {
	Kind    string         `json:"kind"`
	Seeds   uint64         `json:"seeds"` // the seeds 1 to this were tried
	Placed  int            `json:"placed"`
	Refused int            `json:"refused"`
	Commits map[string]int `json:"commits,omitempty"` // how many clusters were tried at each
	Wrong   []disagreement `json:"wrong,omitempty"`
}

type disagreement struct {
	Seed   uint64 `json:"seed"`
	Commit string `json:"commit,omitempty"`
	What   string `json:"what"`
}

// kept is how many disagreements of a kind are kept; a fault that is everywhere needs no more.
const kept = 100

// compared names the trials that need no scheduler.
const compared = "tiny"

func read(file string) (*sums, error) {
	s := &sums{}
	data, err := os.ReadFile(file) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read the sums in %s: %w; move the file away to begin again", file, err)
	}
	return s, nil
}

// write replaces the file as a whole, so that a killed job leaves one that can be read.
func (s *sums) write(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", append(data, '\n'), 0o644); err != nil { //nolint:gosec // nothing secret
		return err
	}
	return os.Rename(file+".new", file)
}

// of is the sum of a kind, which is made if it is the first time.
func (s *sums) of(kind string) *sum {
	i := slices.IndexFunc(s.Kinds, func(x *sum) bool { return x.Kind == kind })
	if i < 0 {
		i, s.Kinds = len(s.Kinds), append(s.Kinds, &sum{Kind: kind, Commits: map[string]int{}})
	}
	return s.Kinds[i]
}

// share is how many clusters of a kind are tried for each of another: small ones are far quicker.
func share(kind string) uint64 {
	switch kind {
	case "small", "small-moves", "attended", "shared":
		return 50
	case compared:
		return 15
	}
	return 1
}

// next is the kind that is to be tried now: of those that are not through, the one with the fewest clusters for its share.
func (s *sums) next(kinds []string, scheduler, optimum int) string {
	judged := 0
	for _, k := range kinds {
		if k != compared {
			judged += int(s.of(k).Seeds) //nolint:gosec // a small number
		}
	}
	best := ""
	for _, k := range kinds {
		through := judged >= scheduler
		if k == compared {
			through = int(s.of(k).Seeds) >= optimum //nolint:gosec // a small number
		}
		if !through && (best == "" || s.of(k).Seeds/share(k) < s.of(best).Seeds/share(best)) {
			best = k
		}
	}
	return best
}

func (s *sum) add(t oracle.Trial, commit string) {
	s.Seeds++
	s.Placed, s.Refused = s.Placed+t.Placed, s.Refused+t.Refused
	if s.Commits == nil {
		s.Commits = map[string]int{}
	}
	s.Commits[commit]++
	for _, what := range t.Wrong {
		if len(s.Wrong) < kept {
			s.Wrong = append(s.Wrong, disagreement{Seed: s.Seeds, Commit: commit, What: what})
		}
	}
}

// again tries what was wrong at another commit, and drops what is not wrong any more.
func (s *sums) again(commit string, try func(kind string, seed uint64) (oracle.Trial, error)) error {
	for _, k := range s.Kinds {
		var still []disagreement
		tried := map[uint64]bool{} // a cluster may have several
		for _, d := range k.Wrong {
			if d.Commit == commit && commit != "" {
				still = append(still, d)
				continue
			}
			if tried[d.Seed] {
				continue
			}
			tried[d.Seed] = true
			t, err := try(k.Kind, d.Seed)
			if err != nil {
				return fmt.Errorf("%s, seed %d again: %w", k.Kind, d.Seed, err)
			}
			for _, what := range t.Wrong {
				still = append(still, disagreement{Seed: d.Seed, Commit: commit, What: what})
			}
		}
		k.Wrong = still
	}
	return nil
}

func (s *sums) wrong() int {
	n := 0
	for _, k := range s.Kinds {
		n += len(k.Wrong)
	}
	return n
}

// markdown is a table of what was found, without the disagreements' texts.
func (s *sums) markdown() string {
	var b strings.Builder
	b.WriteString("| trial | seeds | placements | refusals | disagreements |\n|---|--:|--:|--:|--:|\n")
	var all sum
	row := func(name, seeds string, of sum) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", name, seeds, of.Placed, of.Refused, len(of.Wrong))
	}
	for _, k := range s.Kinds {
		row(k.Kind, fmt.Sprintf("1 to %d", k.Seeds), *k)
		if k.Kind != compared {
			all.Seeds, all.Placed, all.Refused = all.Seeds+k.Seeds, all.Placed+k.Placed, all.Refused+k.Refused
			all.Wrong = append(all.Wrong, k.Wrong...)
		}
	}
	row("all by kube-scheduler", fmt.Sprint(all.Seeds), all)
	return b.String()
}

// String is a table, with all disagreements below.
func (s *sums) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "trial\tclusters\tplacements\trefusals\tdisagreements\t")
	for _, k := range s.Kinds {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", k.Kind, k.Seeds, k.Placed, k.Refused, len(k.Wrong))
	}
	_ = w.Flush()
	for _, k := range s.Kinds {
		for _, d := range k.Wrong {
			fmt.Fprintf(&b, "\n%s, seed %d, at %s:\n%s\n", k.Kind, d.Seed, d.Commit, d.What)
		}
	}
	return b.String()
}
