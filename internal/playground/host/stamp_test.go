package host

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a program writes, in pieces as they come, is shown as a kubelet shows it.
func TestLog(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why   string
		shown shown
		want  string
	}{
		"All":      {"A log is read without the stamps it is kept with.", shown{left: -1}, "one\ntwo and a half\nthree\n"},
		"Since":    {"A line came when it began.", shown{left: -1, since: start.Add(time.Second)}, "two and a half\nthree\n"},
		"Later":    {"Nothing has come since.", shown{left: -1, since: start.Add(time.Minute)}, ""},
		"Stamps":   {"With the times, for those who ask.", shown{left: -1, since: start.Add(3 * time.Second), stamps: true}, "2026-01-01T12:00:03.000000000Z three\n"},
		"SomeOnly": {"So many bytes and no more, stamps not counted.", shown{left: 6}, "one\ntw"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := start
			var kept, read bytes.Buffer
			in := &stamped{out: &kept, now: func() time.Time { return now }}
			for _, piece := range []string{"one\n", "two", " and a half\n", "three\n"} {
				if _, err := in.Write([]byte(piece)); err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Second)
			}
			out := tc.shown
			out.out = &read
			for piece := range strings.SplitSeq(kept.String(), "h") { // a file is read in blocks that know no lines
				if strings.HasPrefix(piece, "ree") || strings.HasPrefix(piece, "alf") {
					piece = "h" + piece
				}
				if _, err := out.Write([]byte(piece)); err != nil {
					break
				}
			}
			if got := read.String(); got != tc.want {
				t.Errorf("%s got %q, want %q", tc.why, got, tc.want)
			}
		})
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		query string
		want  time.Time
		fails bool
	}{
		"Always":  {query: ""},
		"Seconds": {query: "sinceSeconds=90", want: now.Add(-90 * time.Second)},
		"Time":    {query: "sinceTime=2026-01-01T11:00:00Z", want: now.Add(-time.Hour)},
		"None":    {query: "sinceSeconds=0", fails: true},
		"Words":   {query: "sinceTime=yesterday", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sinceOf(q, now)
			if !got.Equal(tc.want) && !tc.fails || (err != nil) != tc.fails {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
