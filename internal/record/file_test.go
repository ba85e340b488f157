package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

func open(t *testing.T, path string, limit int64) *record.File {
	t.Helper()
	f, err := record.OpenFile(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func contents(t *testing.T, path string) ([]journal.Entry, []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	return got, data
}

// noise are decisions that do not compress: each takes about 20 kB.
func noise(decisions int) (out []journal.Entry) {
	b := world.NewBuilder()
	for i := range decisions {
		text := make([]byte, 0, 20_000)
		for n := uint64(i)*1_000_003 + 7; len(text) < cap(text); n = n*6364136223846793005 + 1442695040888963407 {
			text = fmt.Appendf(text, "%016x", n)
		}
		if err := b.SetPod(world.Pod{Key: world.Key{Name: fmt.Sprint("p", i)}, Labels: map[string]string{"a": string(text)}}); err != nil {
			panic(err)
		}
		b.DeletePod(world.Key{Name: fmt.Sprint("p", i-2)})
		out = append(out, journal.Entry{Kind: journal.Buy, World: b.Snapshot(int64(i)), Plan: plan.Plan{Waiting: i}})
	}
	return out
}

// A recording stays within its limit; the oldest goes, and what is left is whole.
func TestFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	f := open(t, path, record.LeastLimit)
	entries := noise(400)
	for i, e := range entries {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > record.LeastLimit {
			t.Fatalf("after %d entries it has %d bytes: %v", i, info.Size(), err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, data := contents(t, path)
	alike(t, entries, got)
	if len(got) < 20 || len(data) < record.LeastLimit/3 {
		t.Errorf("%d entries in %d bytes are left of %d", len(got), len(data), len(entries))
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("%v are left: %v", left, err)
	}
}

// A process that ends in the middle of an entry costs that entry: the next one goes on behind the last whole one.
func TestFileIsGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	entries := story(t, 9)
	add := func(some []journal.Entry) {
		t.Helper()
		f := open(t, path, record.LeastLimit)
		for _, e := range some {
			if err := f.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	add(entries[:4])
	_, whole := contents(t, path)
	add(entries[4:5])
	_, more := contents(t, path)
	if err := os.WriteFile(path, more[:len(whole)+(len(more)-len(whole))/2], 0o600); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".cutting", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path, record.LeastLimit)
	if n, last := f.Entries(), f.Last(); n != 4 || last != entries[3].World.At() {
		t.Errorf("it goes on behind entry %d of %d", n, last)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	add(entries[5:])
	got, _ := contents(t, path)
	alike(t, slices.Concat(entries[:4], entries[5:]), got)
	if len(got) != 8 {
		t.Errorf("%d entries", len(got))
	}
}

// What is no recording is not written over, and what another program writes to is left alone.
func TestFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ content, want string }{
		"letter": {"Dear all,", "it is no recording"},
		"later":  {"tenon-recording/v2\n", "read it with the release that wrote it"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := record.OpenFile(path, record.LeastLimit); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: it says %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != tc.content {
			t.Errorf("%s is %q now (%v)", name, data, err)
		}
	}
	begun := filepath.Join(dir, "begun")
	if err := os.WriteFile(begun, []byte("tenon-record"), 0o600); err != nil { // by a process that was ended
		t.Fatal(err)
	}
	if err := open(t, begun, record.LeastLimit).Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(begun); err != nil || string(data) != "tenon-recording/v1\n" {
		t.Errorf("what was cut off in its first line is %q now (%v)", data, err)
	}
	if _, err := record.OpenFile(filepath.Join(dir, "x"), 5); err == nil || !strings.Contains(err.Error(), "want at least") {
		t.Errorf("with five bytes it says %v", err)
	}
	if _, err := record.OpenFile(dir, record.LeastLimit); err == nil {
		t.Error("a folder is opened")
	}
	path := filepath.Join(dir, "two.rec")
	a, b := open(t, path, record.LeastLimit), open(t, path, record.LeastLimit)
	entries := story(t, 2)
	if err := a.Add(entries[0]); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(entries[1]); err == nil || !strings.Contains(err.Error(), "another program writes to it") {
		t.Errorf("the second writer is told %v", err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

// A World that does not fit is left out with the reason, and what comes after it is recorded.
func TestAWorldThatDoesNotFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	f := open(t, path, record.LeastLimit)
	large := noise(100)
	b := world.NewBuilder()
	for _, e := range large {
		for _, p := range e.World.Pods() {
			if err := b.SetPod(*p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Add(journal.Entry{World: b.Snapshot(5)}); err == nil || !strings.Contains(err.Error(), "the World alone takes more than the 1048576 bytes") {
		t.Errorf("it says %v", err)
	}
	if err := errors.Join(f.Add(large[0]), f.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := contents(t, path); len(got) != 1 {
		t.Errorf("%d entries", len(got))
	}
}

// Decisions that did nothing, as the last one some seconds ago, are left out; all others are recorded.
func TestRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	r := record.NewRecorder(open(t, path, record.LeastLimit), func(err error) { t.Error(err) })
	asks := plan.Plan{New: []plan.Ask{{Name: "new-1"}}}
	var want []int64
	for _, tc := range []struct {
		at   int64
		kind string
		plan plan.Plan
		kept bool
	}{
		{0, journal.Buy, plan.Plan{}, true},
		{3, journal.Buy, plan.Plan{}, false},
		{4, journal.GiveBack, plan.Plan{}, true},
		{5, journal.Buy, asks, true},
		{6, journal.Buy, plan.Plan{}, true},
		{7, journal.Buy, plan.Plan{Refused: make([]plan.Refusal, 1)}, true},
		{8, journal.Buy, plan.Plan{Refused: make([]plan.Refusal, 1)}, false},
		{17, journal.Buy, plan.Plan{Refused: make([]plan.Refusal, 1)}, true},
	} {
		r.Add(journal.Entry{Kind: tc.kind, World: world.NewBuilder().Snapshot(tc.at), Plan: tc.plan})
		if tc.kept {
			want = append(want, tc.at)
		}

	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if err := r.Start(done); err != nil {
		t.Fatal(err)
	}
	var got []int64
	entries, _ := contents(t, path)
	for _, e := range entries {
		got = append(got, e.World.At())
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded at %v, want %v", got, want)
	}
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/recording", http.NoBody))
	if got, err := read(answer.Body.Bytes()); err != nil || len(got) != len(want) {
		t.Errorf("%d entries are served: %v", len(got), err)
	}
}

// A follower is told what is in memory, and then what is decided, each once. More than two may not.
func TestFeed(t *testing.T) {
	entries := story(t, 6)
	kept := slices.Clone(entries[:3])
	slices.Reverse(kept)
	f := &record.Feed{Kept: func() []journal.Entry { return kept }, Now: clock.Wall}
	server := httptest.NewServer(f)
	defer server.Close()
	get := func(query string) *http.Response {
		t.Helper()
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	once := get(fmt.Sprintf("/?follow=false&since=%d", entries[0].World.At()))
	if got, err := readAll(once); err != nil || len(got) != 2 {
		t.Errorf("%d entries in memory: %v", len(got), err)
	}
	if bad := get("/?since=x"); bad.StatusCode != http.StatusBadRequest || bad.Body.Close() != nil {
		t.Errorf("it says %v", bad.Status)
	}
	first, second := get("/"), get("/")
	if third := get("/"); third.StatusCode != http.StatusServiceUnavailable || third.Body.Close() != nil {
		t.Errorf("the third is told %v", third.Status)
	}
	if err := second.Body.Close(); err != nil {
		t.Fatal(err)
	}
	got := make(chan journal.Entry)
	over := make(chan error)
	go func() {
		over <- record.Read(first.Body, func(e journal.Entry) error { got <- e; return nil })
	}()
	var all []journal.Entry
	for range 3 {
		all = append(all, <-got)
	}
	for _, e := range entries[2:] { // one of them is told already
		f.Add(e)
	}
	for range 3 {
		all = append(all, <-got)
	}
	alike(t, entries, all)
	if err := first.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err == nil {
		t.Error("an answer that is cut off has an end")
	}
}

func readAll(answer *http.Response) ([]journal.Entry, error) {
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	got, err := read(data)
	return got, errors.Join(err, answer.Body.Close())
}

// BenchmarkFile is what it costs to record a decision about a cluster of 100 nodes and 2,000 pods, with all that EC2 sells in a region.
func BenchmarkFile(b *testing.B) {
	entries := large(b, 100)
	path := filepath.Join(b.TempDir(), "a.rec")
	f, err := record.OpenFile(path, 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, e := range entries {
			if err := f.Add(e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*len(entries))/float64(time.Microsecond), "µs/decision")
	b.ReportMetric(float64(f.Size())/float64(f.Entries()), "bytes/decision")
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead is what it costs to read 100 of them and to decide again.
func BenchmarkRead(b *testing.B) {
	data := written(b, large(b, 100), 0)
	for b.Loop() {
		if err := record.Read(bytes.NewReader(data), func(e journal.Entry) error { e.Again(); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// large are decisions about a cluster of 100 nodes, of which some pods change from one to the next.
func large(b *testing.B, decisions int) (out []journal.Entry) {
	b.Helper()
	w := enginetest.Apps(40)
	x := w.Edit()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	pool, shape := w.Pools()[0], w.Catalogs()[0].Shapes[0]
	labels := map[string]string{label.InstanceType: shape.Name, label.Zone: shape.Offers[0].Zone, label.CapacityType: shape.Offers[0].CapacityType, label.NodePool: pool.ID.Name}
	room := amount.Of(amount.Entry{Name: amount.CPU, Value: 8 * amount.Unit}, amount.Entry{Name: amount.Memory, Value: (32 << 30) * amount.Unit}, amount.Entry{Name: amount.Pods, Value: 50 * amount.Unit})
	for i := range 100 {
		name := fmt.Sprint("node-", i)
		must(x.SetClaim(world.Claim{Name: name, Pool: pool.ID, Template: pool.Template, Node: name, Labels: labels, Launched: true, Registered: true, Initialized: true, Capacity: room, Allocatable: room}))
		must(x.SetNode(world.Node{Name: name, Claim: name, Pool: pool.ID, Labels: labels, Ready: true, Capacity: room, Allocatable: room}))
	}
	pod := func(i, uid int) world.Pod {
		return world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprint("pod-", i)}, UID: fmt.Sprint(uid), Node: fmt.Sprint("node-", i%100), Labels: map[string]string{"app": fmt.Sprint(i % 40)}, Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: amount.Unit / 4}, amount.Entry{Name: amount.Pods, Value: amount.Unit})}
	}
	for i := range 2000 {
		must(x.SetPod(pod(i, i)))
	}
	for i := range decisions {
		for j := range 10 {
			must(x.SetPod(pod((i*37+j*101)%2000, 10_000*i+j)))
		}
		e := journal.Entry{Kind: journal.Buy, World: x.Snapshot(1_800_000_000 + int64(i))}
		if i%2 == 1 {
			e.Kind = journal.GiveBack
		}
		e.Plan = e.Again()
		out = append(out, e)
	}
	return out
}
