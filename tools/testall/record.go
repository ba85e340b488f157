package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what came of a part.
type result struct {
	Part     string   `json:"part"`
	Result   string   `json:"result"`
	Seconds  int      `json:"seconds"`
	Counted  string   `json:"counted"`
	Failures []string `json:"failures,omitempty"`
	Log      string   `json:"log"`
}

func (r result) took() time.Duration { return time.Duration(r.Seconds) * time.Second }

// record is what came of the parts of one state of the tree.
type record struct {
	file    string
	Results []result `json:"results"`
}

func open(file string) (*record, error) {
	r := &record{file: file}
	data, err := os.ReadFile(file) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read the results in %s: %w; remove the file to begin again", file, err)
	}
	return r, nil
}

func (r *record) of(part string) (result, bool) {
	i := slices.IndexFunc(r.Results, func(x result) bool { return x.Part == part })
	if i < 0 {
		return result{}, false
	}
	return r.Results[i], true
}

// keep writes a result beside the others.
func (r *record) keep(one result) error {
	r.Results = append(slices.DeleteFunc(r.Results, func(x result) bool { return x.Part == one.Part }), one)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(r.file+".new", append(data, '\n'), 0o644); err != nil { //nolint:gosec // nothing secret
		return err
	}
	return os.Rename(r.file+".new", r.file)
}

// table says of each part what came of it, and below what failed.
func (r *record) table(parts []part) string {
	var b, below strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PART\tRESULT\tTIME\tCOUNTED")
	for _, p := range parts {
		one, ok := r.of(p.name)
		if !ok {
			fmt.Fprintf(w, "%s\tnot run\t\t\n", p.name)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.name, one.Result, one.took(), one.Counted)
		for _, f := range one.Failures {
			fmt.Fprintf(&below, "%s: %s\n", p.name, f)
		}
	}
	_ = w.Flush()
	if below.Len() > 0 {
		fmt.Fprintf(&b, "\nfailed:\n%s", below.String())
	}
	return b.String()
}

func (r *record) allPassed(parts []part) bool {
	return !slices.ContainsFunc(parts, func(p part) bool {
		one, ok := r.of(p.name)
		return !ok || one.Result != passed
	})
}

// folder is where the results of this state of the tree are: of a commit, and of what is not committed.
func folder(ctx context.Context) (string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", args...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w; say with -state where results are kept", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	commit, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git("diff", "HEAD")
	if err != nil {
		return "", err
	}
	more, err := git("ls-files", "--others", "--exclude-standard")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, changed)
	for path := range strings.Lines(more) {
		path = strings.TrimSpace(path)
		data, err := os.ReadFile(path) //nolint:gosec // git names it
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", path, len(data), data)
	}
	if changed != "" || more != "" {
		commit += "-" + hex.EncodeToString(h.Sum(nil))[:8]
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the results: %w; say where with -state", err)
	}
	return filepath.Join(cache, "tenon", "testall", commit), nil
}
