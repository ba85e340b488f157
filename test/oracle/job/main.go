// Command job has made-up clusters judged, as many as there is time for, and adds up what was found in a file.
//
// It goes on where it ended, so that a million clusters are many short runs:
// each kind of trial counts its seeds from 1. Every disagreement is kept with
// its seed, and shown again by
//
//	go test ./test/oracle -run 'TestPlansAreRight' -worlds 1 -seed SEED
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-sh/tenon/test/oracle"
)

// batch is how many clusters are judged between two times that the file is written.
const batch = 50

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
	}
	if !ok || err != nil {
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

// run reports whether all that was ever judged was right.
func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("job", flag.ContinueOnError)
	limit := flags.Duration("for", 10*time.Minute, "for how long clusters are judged")
	file := flags.String("state", "", "the file with the sums; by default one in the user's cache folder")
	kinds := flags.String("kinds", strings.Join(oracle.Trials(), ","), "which trials")
	against := flags.Int("scheduler", 1_000_000, "how many clusters kube-scheduler's plugins are to judge, all kinds together")
	optimum := flags.Int("optimum", 100_000, "how many clusters are to be compared with the least price")
	page := flags.Bool("markdown", false, "write the sums as the table of docs/judges.md, and judge nothing")
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
		*file = filepath.Join(cache, "tenon", "oracle.json")
	}
	if *page {
		sums, err := read(*file)
		if err != nil {
			return false, err
		}
		fmt.Fprint(out, sums.markdown())
		return sums.wrong() == 0, nil
	}
	unlock, err := lock(*file + ".lock")
	if err != nil {
		return false, err
	}
	defer unlock()
	sums, err := read(*file)
	if err != nil {
		return false, err
	}
	debug.SetGCPercent(1000) // a cluster is small, and nothing of it stays
	conversation, err := oracle.Converse(ctx, os.Stderr)
	if err != nil {
		return false, err
	}
	defer conversation.End()
	j := job{sums: sums, file: *file, commit: commit(ctx), until: time.Now().Add(*limit), oracle: conversation} //nolint:forbidigo // a job of so many minutes
	if err := sums.again(j.commit, func(kind string, seed uint64) (oracle.Trial, error) { return oracle.Try(kind, conversation, seed) }); err != nil {
		return false, err
	}
	err = j.judge(ctx, strings.Split(*kinds, ","), func() string { return sums.next(strings.Split(*kinds, ","), *against, *optimum) })
	fmt.Fprint(out, sums)
	return sums.wrong() == 0, err
}

// job judges clusters until its time is up.
type job struct {
	sums   *sums
	file   string
	commit string
	until  time.Time
	oracle *oracle.Conversation
}

// judge has batches judged of the kind that next says, until it says none.
func (j job) judge(ctx context.Context, kinds []string, next func() string) error {
	for _, k := range kinds {
		j.sums.of(k)
	}
	for kind := next(); kind != "" && ctx.Err() == nil && time.Now().Before(j.until); kind = next() { //nolint:forbidigo // a job of so many minutes
		s := j.sums.of(kind)
		for range batch {
			seed := s.Seeds + 1
			one, err := oracle.Try(kind, j.oracle, seed)
			if err != nil {
				if ctx.Err() != nil {
					break
				}
				return errors.Join(fmt.Errorf("%s, seed %d: %w", kind, seed, err), j.sums.write(j.file))
			}
			s.add(one, j.commit)
		}
		if err := j.sums.write(j.file); err != nil {
			return err
		}
	}
	return nil
}

// lock keeps a second job from adding to the same file.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a small number
		_ = f.Close()
		return nil, fmt.Errorf("another job adds to this file: lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// commit is what is judged; empty where git does not know.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
