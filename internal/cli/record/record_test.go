package record_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
	verbs "github.com/tenon-sh/tenon/internal/cli/record"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

func run(ctx context.Context, args ...string) (string, error) {
	cmd := verbs.Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	return out.String(), err
}

// decided is a decision at a second about a pod with a secret name.
func decided(t *testing.T, at int64) journal.Entry {
	t.Helper()
	b := world.NewBuilder()
	if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "secret", Name: fmt.Sprint("secret-", at)}}); err != nil {
		t.Fatal(err)
	}
	e := journal.Entry{Kind: journal.Buy, World: b.Snapshot(at)}
	e.Plan = e.Again()
	return e
}

func times(t *testing.T, path string) (out []int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Read(bytes.NewReader(data), func(e journal.Entry) error { out = append(out, e.World.At()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// A controller is followed over the loss of its answer: nothing is recorded twice, and a file is gone on with.
func TestFollow(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	kept := []journal.Entry{decided(t, 2), decided(t, 1)} // the latest first
	var asked atomic.Int32
	feed := &record.Feed{Kept: func() []journal.Entry { return slices.Clone(kept) }, Now: clock.Wall}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked.Add(1) {
		case 1: // it ends behind what is in memory, as a controller that restarts
			r.URL.RawQuery += "&follow=false"
		case 2:
			kept = slices.Insert(kept, 0, decided(t, 3))
			r.URL.RawQuery += "&follow=false"
		case 3:
			interrupt()
		}
		feed.ServeHTTP(w, r)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "a.rec")
	out, err := run(ctx, "--controller", server.URL, "--out", path)
	if err != nil || !strings.Contains(out, "3 decisions recorded in "+path) || !strings.Contains(out, "is asked again in 1s") {
		t.Fatalf("it says %s (%v)", out, err)
	}
	if got := times(t, path); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("recorded at %v", got)
	}
	gone, end := context.WithCancel(t.Context())
	asked.Store(2)
	interrupt = end
	if out, err := run(gone, "--controller", server.URL, "--out", path); err != nil || !strings.Contains(out, "0 decisions recorded") {
		t.Errorf("gone on with it says %s (%v)", out, err)
	}
	end()
}

// What a controller recorded itself is fetched; one that records nothing says so.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	f, err := record.OpenFile(filepath.Join(dir, "theirs.rec"), record.LeastLimit)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(decided(t, 7)); err != nil {
		t.Fatal(err)
	}
	r := record.NewRecorder(f, func(err error) { t.Error(err) })
	mux := http.NewServeMux()
	mux.Handle("GET /recording", r)
	server := httptest.NewServer(mux)
	defer server.Close()
	mine := filepath.Join(dir, "mine.rec")
	if out, err := run(t.Context(), "--controller", server.URL, "--kept", "--out", mine); err != nil || !strings.Contains(out, "1 decision recorded") {
		t.Fatalf("it says %s (%v)", out, err)
	}
	if got := times(t, mine); !slices.Equal(got, []int64{7}) {
		t.Errorf("recorded at %v", got)
	}
	if _, err := run(t.Context(), "--controller", server.URL, "--out", filepath.Join(dir, "x.rec")); err == nil || !strings.Contains(err.Error(), "it is another program, or an older release") {
		t.Errorf("of a controller without the page it says %v", err)
	}
}

// Recordings and journals become one, with other names if that is wanted.
func TestScrub(t *testing.T) {
	dir := t.TempDir()
	var lines bytes.Buffer
	for at := range int64(3) {
		if err := decided(t, 10+at).Write(&lines); err != nil {
			t.Fatal(err)
		}
	}
	from, first, second := filepath.Join(dir, "a.json"), filepath.Join(dir, "first.rec"), filepath.Join(dir, "second.rec")
	if err := os.WriteFile(from, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t.Context(), from, "--out", first); err != nil {
		t.Fatal(out, err)
	}
	if out, err := run(t.Context(), first, "--scrub", "--out", second); err != nil || len(times(t, second)) != 3 {
		t.Fatal(out, err)
	}
	data, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	if err := record.Read(bytes.NewReader(data), func(e journal.Entry) error { return e.Write(&all) }); err != nil || strings.Contains(all.String(), "secret") || !strings.Contains(all.String(), "hidden_1") {
		t.Errorf("it holds %s (%v)", all.String(), err)
	}
}

func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	letter := filepath.Join(dir, "letter")
	if err := os.WriteFile(letter, []byte("Dear all,"), 0o600); err != nil {
		t.Fatal(err)
	}
	rec := filepath.Join(dir, "a.rec")
	for want, args := range map[string][]string{
		"give it no files":             {"--kept", "x"},
		"--for is -1s":                 {"--for", "-1s"},
		"it needs one":                 {"--for", "1s", "x"},
		"would be read and written":    {rec, "--out", rec},
		"want at least 1048576":        {letter, "--limit", "5", "--out", rec},
		"it holds no decisions":        {letter, "--out", rec},
		"want NAMESPACE/SERVICE or th": {"--controller", "x", "--out", rec},
	} {
		if _, err := run(t.Context(), args...); verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: it says %v, want %q", args, err, want)
		}
	}
}
