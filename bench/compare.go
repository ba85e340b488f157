package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/bench/check"
	"github.com/tenon-sh/tenon/bench/judge"
	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/test/oracle"
)

// compare puts every world through the sides that are wanted.
func (o *options) compare(ctx context.Context, progress io.Writer) error {
	worlds, err := o.worlds()
	if err != nil {
		return err
	}
	run := report.Run{
		Machine: machine(), Load: load(), Date: time.Now().UTC().Format("2006-01-02"), Version: commit(ctx),
		Peer: peer.Version, Command: "make bench-release", Cap: fmt.Sprintf("%.0f seconds", o.cap.Seconds()), Workers: o.workers,
	}
	fmt.Fprintf(progress, "%s; load %s\n", run.Machine, run.Load)
	end, err := o.judge(ctx, progress)
	if err != nil {
		return err
	}
	defer end()
	if run.Rows, err = o.rows(ctx, progress, worlds); err != nil {
		return err
	}
	if run.Seeds, err = o.rows(ctx, progress, o.over()); err != nil {
		return err
	}
	if o.only == "" {
		if err := o.children(ctx, progress, &run); err != nil {
			return err
		}
	}
	if o.history != "" {
		if err := report.Remember(o.history, run, o.part()); err != nil {
			return err
		}
	}
	if o.out == "" {
		return nil
	}
	return save(run, o.out)
}

// part names which of both parts of the benchmarks this is.
func (o *options) part() string {
	if o.quick {
		return "quick"
	}
	return "whole"
}

// judge starts kube-scheduler's plugins, if they are to look at answers.
func (o *options) judge(ctx context.Context, progress io.Writer) (end func(), err error) {
	if o.judged == 0 {
		return func() {}, nil
	}
	if o.scheduler, err = oracle.Converse(ctx, progress); err != nil {
		return nil, fmt.Errorf("%w; -judge 0 does without", err)
	}
	return o.scheduler.End, nil
}

// children measures what is no comparison of two answers to one world.
func (o *options) children(ctx context.Context, progress io.Writer, run *report.Run) (err error) {
	if o.tinies > 0 {
		if run.Tiny, err = o.tiny(ctx, progress); err != nil {
			return err
		}
	}
	if o.races > 0 {
		if run.Races, err = o.raced(ctx, progress); err != nil {
			return err
		}
	}
	if o.shrinks != "" {
		if run.Shrinks, err = o.shrunk(ctx, progress); err != nil {
			return err
		}
	}
	if o.perSolved > 0 {
		if run.Solved, err = o.solved(ctx, progress); err != nil {
			return err
		}
	}
	if o.perFamily > 0 {
		if run.Families, err = o.families(ctx, progress); err != nil {
			return err
		}
	}
	if o.perBeside > 0 {
		run.Beside, err = o.beside(ctx, progress)
	}
	return err
}

func (o *options) rows(ctx context.Context, progress io.Writer, worlds []worldID) ([]report.Row, error) {
	var rows []report.Row
	for _, w := range worlds {
		r, err := o.row(ctx, w)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
		for _, s := range []struct {
			name string
			report.Side
		}{{ours.Side, r.Ours}, {peer.Side, r.Peer}} {
			if s.Ran {
				fmt.Fprintf(progress, "%-22s %-10s %s\n", w, s.name, line(s.Side))
			}
		}
	}
	return rows, nil
}

// line is a side's figures, printed as they come.
func line(s report.Side) string {
	if s.Failed != "" {
		return s.Failed
	}
	out := fmt.Sprintf("%8.0f pods/CPU-s %7.2f CPU-s %7.2f s %6.0f MiB  cost %9.3f bound %9.3f  nodes %5d refused %4d", s.Rate(), s.CPU, s.Wall, s.PeakMiB, s.Cost, s.Bound, s.Nodes, s.Refused)
	if s.HoldCPU > 0.2 {
		out += fmt.Sprintf(" (before: %.2f CPU-s)", s.HoldCPU)
	}
	if s.CutOff {
		out += fmt.Sprintf(" CUT OFF, %d left over", s.Undecided)
	}
	if len(s.Wrong)+len(s.Possible) > 0 {
		out += fmt.Sprintf(" KUBE-SCHEDULER: %d wrong, %d possible: %.300q", len(s.Wrong), len(s.Possible), append(s.Wrong, s.Possible...)[0])
	}
	if len(s.Faults) > 0 {
		out += fmt.Sprintf(" INVALID: %s", strings.Join(s.Faults[:min(3, len(s.Faults))], "; "))
	}
	return out
}

// row decides one world by each side and checks both.
func (o *options) row(ctx context.Context, w worldID) (report.Row, error) {
	r := report.Row{Scenario: w.Scenario, Pods: w.Pods, Seed: w.Seed}
	in, catalog, err := w.build()
	if err != nil {
		return r, err
	}
	var both []outcome.Outcome
	var said []judge.Verdict
	for _, side := range []struct {
		name string
		to   *report.Side
	}{{ours.Side, &r.Ours}, {peer.Side, &r.Peer}} {
		if o.side != "both" && o.side != side.name {
			continue
		}
		out, err := o.run(ctx, side.name, w)
		if err != nil {
			return r, err
		}
		var found check.Report
		if out.Failed == "" && !strings.HasPrefix(w.Scenario, ofFamily) { // the checker knows selectors by the label app alone
			found = check.Outcome(in, catalog, out)
		}
		*side.to = report.SideOf(out, found)
		var v judge.Verdict
		if out.Failed == "" && o.scheduler != nil && w.Pods <= o.judged {
			if v, err = judge.Outcome(o.scheduler, in, catalog, out, side.name == ours.Side); err != nil {
				return r, fmt.Errorf("%s, %s: %w", side.name, w, err)
			}
			side.to.Judged, side.to.Wrong, side.to.Possible = true, v.Wrong, v.Possible
		}
		both, said = append(both, out), append(said, v)
	}
	if len(both) == 2 {
		r.Same = report.Same(both[0], both[1])
		for pod := range both[0].Refused {
			if said[1].Legal[pod] {
				r.Withheld++
			}
		}
	}
	return r, nil
}

// run has a child decide. A child that does not end in time, or that breaks, is
// an outcome like others; only the end of the whole run is an error.
func (o *options) run(ctx context.Context, side string, w worldID) (outcome.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome.Outcome{}, err
	}
	limit := 3*o.cap + 30*time.Second // on the clock; the machine may be busy
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(bounded, self, "-child", side, "-scenario", w.Scenario, "-n", strconv.Itoa(w.Pods), "-seed", strconv.FormatUint(w.Seed, 10),
		"-cap", o.cap.String(), "-workers", strconv.Itoa(o.workers), "-steps", strconv.Itoa(o.steps))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	out := outcome.Outcome{Side: side}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case bounded.Err() != nil:
		out.Failed = fmt.Sprintf("no answer within %s", limit)
	case err != nil:
		first, _, _ := strings.Cut(stderr.String(), "\n")
		out.Failed = fmt.Sprintf("%v: %s", err, first)
	default:
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			return out, fmt.Errorf("%s, %s: %w", side, w, err)
		}
	}
	return out, nil
}

// rewrite writes the page of a run that was measured before.
func (o *options) rewrite(ctx context.Context, progress io.Writer) error {
	data, err := os.ReadFile(o.from)
	if err != nil {
		return err
	}
	var run report.Run
	if err := json.Unmarshal(data, &run); err != nil {
		return fmt.Errorf("read %s: %w", o.from, err)
	}
	end, err := o.judge(ctx, progress)
	if err != nil {
		return err
	}
	defer end()
	if err := o.children(ctx, progress, &run); err != nil {
		return err
	}
	return save(run, o.out)
}

// save writes the page, its plots and its numbers.
func save(run report.Run, page string) error {
	folder := strings.TrimSuffix(page, filepath.Ext(page))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := report.Plots(run)
	numbers, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return err
	}
	files["results.json"] = string(numbers) + "\n"
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(page, []byte(report.Page(run, filepath.Base(folder))), 0o644)
}

// machine names the processor, the cores that may be used, and the memory.
func machine() string {
	name := field("/proc/cpuinfo", "model name")
	memory := field("/proc/meminfo", "MemTotal")
	if kib, err := strconv.Atoi(strings.TrimSuffix(memory, " kB")); err == nil {
		memory = fmt.Sprintf("%d GiB", (kib+1<<19)>>20)
	}
	return fmt.Sprintf("%s, %d cores, %s, %s/%s, %s", name, runtime.NumCPU(), memory, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// field reads the first line of a file of /proc that begins with a name.
func field(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for l := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// commit names the source that our side was built from.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	if exec.CommandContext(ctx, "git", "diff", "--quiet", "HEAD", "--", "../engine").Run() != nil {
		name += " with changes"
	}
	return name
}
