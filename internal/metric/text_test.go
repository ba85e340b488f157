package metric_test

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tenon-sh/tenon/internal/metric"
)

// What is written as text is what a scrape of the same series says.
func TestWriteText(t *testing.T) {
	set, reg := newSet(t)
	samples := []metric.Sample{
		{Labels: []string{"a", "ns"}, Value: 0.25}, {Labels: []string{`quo"ted\`, "two\nlines"}, Value: 1e9}, {Labels: []string{"a", "ns"}, Value: 7}, {Labels: []string{"\xff", ""}, Value: 3},
	}
	var got bytes.Buffer
	if err := set.WriteText(&got, metric.PodsUnboundTime, slices.Values(samples)); err != nil {
		t.Fatal(err)
	}
	set.Replace(metric.PodsUnboundTime, samples)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	var want []string
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, metric.PodsUnboundTime) {
			want = append(want, line)
		}
	}
	slices.Sort(want)
	lines := slices.Sorted(strings.Lines(got.String()))
	if diff := cmp.Diff(want, lines); diff != "" || len(lines) != 5 {
		t.Errorf("-scraped +written\n%s", diff)
	}
}

// many gives so many series, whose labels are made one at a time.
func many(n int) iter.Seq[metric.Sample] {
	labels := []string{"", "ns"}
	var name []byte
	return func(yield func(metric.Sample) bool) {
		for i := range n {
			name = fmt.Appendf(name[:0], "pod-%d", i)
			if labels[0] = string(name); !yield(metric.Sample{Labels: labels, Value: 1}) {
				return
			}
		}
	}
}

// A scrape of a large cluster holds no series but the one that it writes: a series costs its place in the set of those written.
func TestWriteTextHoldsNoSeries(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates for itself")
	}
	set, _ := newSet(t)
	const series = 100_000
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := set.WriteText(io.Discard, metric.PodsUnboundTime, many(series)); err != nil {
				b.Fatal(err)
			}
		}
	})
	if most := int64(100); r.AllocedBytesPerOp()/series > most {
		t.Errorf("%d bytes are allocated a series, want %d at most", r.AllocedBytesPerOp()/series, most)
	}
}

// More than there may be are not written, and counted.
func TestWriteTextIsBounded(t *testing.T) {
	set, reg := newSet(t)
	var out bytes.Buffer
	if err := set.WriteText(&out, metric.UserDataBytes, func(yield func(metric.Sample) bool) {
		for i := range metric.MaxSeries + 7 {
			if !yield(metric.Sample{Labels: []string{fmt.Sprint("class-", i)}, Value: 1}) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != metric.MaxSeries+2 {
		t.Errorf("%d lines, want %d series and two lines of comment", n, metric.MaxSeries)
	}
	want(t, "What had no room is counted.", scrape(t, reg, metric.DroppedSeries), `{metric="`+metric.UserDataBytes+`"} 7`)
}
