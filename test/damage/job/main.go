// Command job tries damaged inputs of every format, as many as there is time for, and adds up what came of them in a file.
//
// It goes on where it ended: each format counts its seeds from 1, at every commit
// as many more as -count says. What is wrong is kept with its seed, tried again
// at each commit, and shown by
//
//	go test ./test/damage -run 'TestDamagedInputs/FORMAT' -v -args -from SEED -count 1 -show
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/tenon-sh/tenon/test/damage"
)

const (
	// batch is how many inputs of a format are tried between two times that the file is written.
	batch = 500
	// kept is how many faults of a format are kept.
	kept = 20
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// sum is what came of the inputs of one format.
type sum struct {
	Seeds   uint64            `json:"seeds"` // 1 to this were tried
	Read    uint64            `json:"read"`
	Commits map[string]uint64 `json:"commits"` // how many were tried at each
	Wrong   map[uint64]string `json:"wrong,omitempty"`
}

// run reports whether nothing is wrong with any input that was ever tried.
func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("job", flag.ContinueOnError)
	limit := flags.Duration("for", 20*time.Minute, "for how long inputs are tried, at most")
	count := flags.Uint64("count", 100_000, "how many inputs of every format are tried at a commit")
	file := flags.String("state", "", "the file with the sums; by default one in the user's cache folder")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return true, nil // the usage has been printed
	} else if err != nil {
		return false, err
	}
	if *file == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return false, fmt.Errorf("find a folder for the sums: %w; say where with -state", err)
		}
		*file = filepath.Join(cache, "tenon", "damage.json")
	}
	sums, err := read(*file)
	if err != nil {
		return false, err
	}
	j := job{sums: sums, commit: commit(ctx), count: *count}
	j.again()
	until := time.Now().Add(*limit)                                                         //nolint:forbidigo // a job of so many minutes
	for more := true; more && ctx.Err() == nil && err == nil && time.Now().Before(until); { //nolint:forbidigo // as above
		more = j.round()
		err = write(*file, sums)
	}
	return j.table(out), err
}

type job struct {
	sums   map[string]*sum
	commit string
	count  uint64
}

// again tries once more what was wrong at an earlier commit.
func (j job) again() {
	for _, f := range damage.Formats() {
		s := j.sums[f.Name]
		if s == nil {
			s = &sum{}
			j.sums[f.Name] = s
		}
		if s.Commits == nil {
			s.Commits = map[string]uint64{}
		}
		for seed := range s.Wrong {
			if f.Try(seed).Fault == "" {
				delete(s.Wrong, seed)
			}
		}
	}
}

// round tries a batch of every format that has not had all its inputs, and reports whether there was one.
func (j job) round() (more bool) {
	for _, f := range damage.Formats() {
		s := j.sums[f.Name]
		for n := uint64(0); n < batch && s.Commits[j.commit] < j.count; n++ {
			more = true
			s.Seeds++
			s.Commits[j.commit]++
			got := f.Try(s.Seeds)
			if got.Read {
				s.Read++
			}
			if got.Fault != "" && len(s.Wrong) < kept {
				if s.Wrong == nil {
					s.Wrong = map[uint64]string{}
				}
				s.Wrong[s.Seeds] = got.Fault
			}
		}
	}
	return more
}

// table writes the sums, and reports whether nothing is wrong.
func (j job) table(out io.Writer) bool {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tAT THIS COMMIT\tIN ALL\tREAD ALL THE SAME\tWRONG")
	ok := true
	for _, f := range damage.Formats() {
		s := j.sums[f.Name]
		fmt.Fprintf(w, "damaged %s\t%d\t%d\t%d\t%d\n", f.Name, s.Commits[j.commit], s.Seeds, s.Read, len(s.Wrong))
		ok = ok && len(s.Wrong) == 0
	}
	_ = w.Flush()
	for _, f := range damage.Formats() {
		for seed, what := range j.sums[f.Name].Wrong {
			fmt.Fprintf(out, "\n%s, seed %d: %s\n", f.Name, seed, what)
		}
	}
	return ok
}

func read(file string) (map[string]*sum, error) {
	sums := map[string]*sum{}
	data, err := os.ReadFile(file) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return sums, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &sums)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sums in %s: %w; move the file away to begin again", file, err)
	}
	return sums, nil
}

// write replaces the file as a whole, so that a killed job leaves one that can be read.
func write(file string, sums map[string]*sum) error {
	data, err := json.MarshalIndent(sums, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("write the sums: %w", err)
	}
	return nil
}

// commit is what is tried; empty where git does not know.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
