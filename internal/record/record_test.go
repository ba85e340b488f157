package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/scrub"
)

// hostile is a name that would be markup and a control sequence.
const hostile = "<script>\x1b[2J"

// story are decisions about a cluster that changes a little from one to the next, of several kinds.
func story(t testing.TB, decisions int) (out []journal.Entry) {
	t.Helper()
	b := enginetest.Apps(40).Edit()
	few := *b.Snapshot(0).Catalogs()[0]
	few.Shapes = few.Shapes[:10]
	if err := b.SetCatalog(few); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pool := b.Snapshot(0).Pools()[0].ID
	for i := range int64(decisions) {
		at := 1_800_000_000 + 30*i
		must(b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprint("new-", i)}, Waiting: true, UID: fmt.Sprint(i), Created: at}))
		if i%5 == 4 {
			b.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprint("new-", i-3)})
		}
		if i%7 == 3 {
			must(b.SetClaim(world.Claim{Name: fmt.Sprint("claim-", i), Pool: pool, Node: fmt.Sprint("node-", i), Created: at, Launched: true, Registered: true, Initialized: true}))
			must(b.SetNode(world.Node{Name: fmt.Sprint("node-", i), Claim: fmt.Sprint("claim-", i), Pool: pool, Ready: true, Labels: map[string]string{"a": hostile}}))
		}
		if i%11 == 5 {
			c := *b.Snapshot(at).Catalogs()[0]
			c.Version, c.Shapes = fmt.Sprint(i), slices.Clone(c.Shapes)
			c.Shapes[1].Offers = slices.Clone(c.Shapes[1].Offers)
			c.Shapes[1].Offers[0].Price++
			must(b.SetCatalog(c))
		}
		w := b.Snapshot(at)
		e := journal.Entry{Kind: journal.Buy, World: w, Release: "v1", Options: journal.Options{Provision: provision.Options{Steps: 500}}}
		if i%3 == 2 {
			e.Kind, e.Options = journal.GiveBack, journal.Options{Disrupt: disrupt.Options{Planned: []string{"x"}, Marked: map[string]int64{"y": 5}}}
		}
		e.Plan = e.Again()
		out = append(out, e)
	}
	return out
}

// written is a recording of entries.
func written(t testing.TB, entries []journal.Entry, chapterEvery int) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := record.NewEncoder(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if chapterEvery > 0 && i%chapterEvery == 0 {
			enc.Begin()
		}
		if err := errors.Join(enc.Add(e), enc.Beat()); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func read(data []byte) (out []journal.Entry, err error) {
	err = record.Read(bytes.NewReader(data), func(e journal.Entry) error { out = append(out, e); return nil })
	return out, err
}

// alike fails unless entries are those that were recorded, or the last of them.
func alike(t *testing.T, want, got []journal.Entry) {
	t.Helper()
	if len(got) > len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	text := func(e journal.Entry) string {
		data, err := json.Marshal(e.Plan)
		options, err2 := json.Marshal(e.Options)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(e.Kind, e.Release, e.Panic, e.Shadow, e.Deleted, e.World.Digest(), string(options), string(data))
	}
	for i, e := range got {
		if w := want[len(want)-len(got)+i]; text(w) != text(e) {
			t.Fatalf("entry %d came back otherwise:\n%.2000s\n%.2000s", i, text(w), text(e))
		}
	}
}

// What is read back is what was recorded, and deciding again gives the same plans.
func TestWhatIsRecordedComesBack(t *testing.T) {
	entries := story(t, 60)
	entries[7].Panic = "index out of range"
	entries[8].Shadow, entries[8].Deleted = true, map[string]string{"claim-3": "spot_interrupted"}
	for _, every := range []int{0, 10} {
		got, err := read(written(t, entries, every))
		if err != nil || len(got) != len(entries) {
			t.Fatalf("%d of %d entries: %v", len(got), len(entries), err)
		}
		alike(t, entries, got)
		for i, e := range got {
			again, _ := json.Marshal(e.Again())
			if was, _ := json.Marshal(e.Plan); !bytes.Equal(was, again) {
				t.Fatalf("entry %d is decided otherwise: %s\n%s", i, was, again)
			}
		}
	}
}

// What stays as it is costs next to nothing.
func TestWhatStaysIsNotWrittenAgain(t *testing.T) {
	entries := story(t, 200)
	one, all := len(written(t, entries[:1], 0)), len(written(t, entries, 0))
	if all > 3*one+200*2000 {
		t.Errorf("the first of 200 entries takes %d bytes, all of them %d", one, all)
	}
	t.Logf("the first takes %d bytes, and the others %d each", one, (all-one)/199)
}

// Of a recording that is cut off wherever, all entries that are whole are read.
func TestACutIsTold(t *testing.T) {
	entries := story(t, 12)
	data := written(t, entries, 4)
	ends := 0
	for at := len(data) - 1; at > 0; at -= 1 + at%59 {
		got, err := read(data[:at])
		if len(got) > len(entries) {
			t.Fatalf("%d entries", len(got))
		}
		for i, e := range got {
			if e.World.Digest() != entries[i].World.Digest() {
				t.Fatalf("cut at byte %d, entry %d is another", at, i)
			}
		}
		var damage *record.DamageError
		switch {
		case err == nil:
			ends++
		case errors.As(err, &damage) && damage.Read != len(got):
			t.Fatalf("cut at byte %d it says %v, and %d entries were read", at, err, len(got))
		case damage == nil && len(got) > 0:
			t.Fatalf("cut at byte %d it reads %d entries and says %v", at, len(got), err)
		}
	}
	if ends > len(entries) {
		t.Errorf("%d cuts are no cuts", ends)
	}
}

// A byte that is changed costs the entries from there to the next chapter, and none is read otherwise than it was.
func TestAChangeIsTold(t *testing.T) {
	entries := story(t, 12)
	data := written(t, entries, 4)
	digests := map[string]bool{}
	for _, e := range entries {
		digests[e.World.Digest()] = true
	}
	behind := 0
	for at := len("tenon-recording/v1\n"); at < len(data); at += 1 + at%239 {
		bent := bytes.Clone(data)
		bent[at] ^= 0x20
		got, err := read(bent)
		var damage *record.DamageError
		if !errors.As(err, &damage) {
			t.Fatalf("byte %d is another and it says %v", at, err)
		}
		if damage.Again > 0 {
			behind++
		}
		if len(got) < 8 || damage.Read != len(got) {
			t.Fatalf("byte %d is another and %d entries are read: %v", at, len(got), err)
		}
		for _, e := range got {
			if !digests[e.World.Digest()] {
				t.Fatalf("byte %d is another and an entry comes that was none", at)
			}
		}
	}
	if behind == 0 {
		t.Error("nothing is read behind a damaged place")
	}
}

// Entries cannot be taken out or moved.
func TestEntriesStayInOrder(t *testing.T) {
	entries := story(t, 3)
	var ends []int
	var b bytes.Buffer
	enc, err := record.NewEncoder(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := enc.Add(e); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, b.Len())
	}
	data := b.Bytes()
	without := slices.Concat(data[:ends[0]], data[ends[1]:])
	if got, err := read(without); len(got) != 1 || !record.IsDamage(err) {
		t.Errorf("without the second entry %d are read: %v", len(got), err)
	}
}

// Whatever is no recording of this version is refused with the reason, and whatever lies costs little.
func TestWhatIsNoRecording(t *testing.T) {
	lies := "tenon-recording/v1\n\xf7TnRC\x02\x00\x00\x00\x00\x00\x00\x00"
	for name, tc := range map[string]struct{ data, want string }{
		"Empty":     {"", "it is no recording"},
		"Garbage":   {"\x00\x01\x02", "it is no recording"},
		"JSON":      {`{"format":"tenon-decision/v2"}`, "it is no recording"},
		"HeadCut":   {"tenon-recor", "it is cut off in its first line"},
		"Earlier":   {"tenon-recording/v0\nxxxx", `its form is "tenon-recording/v0", and this release reads tenon-recording/v1`},
		"MuchLater": {"tenon-recording/v12\nxxxx", "read it with the release that wrote it"},
		"Windows":   {"tenon-recording/v1\r\nxxxx", "it was copied as if it were text"},
		"Later":     {"tenon-recording/v2\nxxxx", `its form is "tenon-recording/v2", and this release reads tenon-recording/v1`},
		"Behind":    {"tenon-recording/v1\ngarbage", "at byte 19 it is not as it was written"},
		"Lies":      {lies, "at byte 19 it ends in the middle of an entry"},
		"Enormous":  {"tenon-recording/v1\n\xf7TnRC\xff\xff\xff\xff\x00\x00\x00\x00", "at byte 19 it is not as it was written"},
		"Many":      {"tenon-recording/v1\n" + strings.Repeat(lies[19:], 100), "damaged in more than 16 places"},
	} {
		got, err := read([]byte(tc.data))
		if len(got) > 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d entries, and it says %v, want %q", name, len(got), err, tc.want)
		}
	}
}

// A reader that has enough is not told of damage.
func TestAReaderMayStop(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	err := record.Read(bytes.NewReader(written(t, story(t, 5), 0)), func(journal.Entry) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 2 {
		t.Errorf("after %d entries it says %v", n, err)
	}
}

// With other names a decision is the same but for its names, in all of a recording.
func TestRenamed(t *testing.T) {
	entries := story(t, 12)
	names := &scrub.Names{Machines: true}
	var renamed []journal.Entry
	for i, e := range entries {
		e.Deleted = map[string]string{"claim-3": "spot_interrupted"}
		if i == 5 {
			e.Panic = "it says default/new-3"
		}
		out, again, err := record.Renamed(e, names)
		if err != nil || i != 5 && again != record.Alike || i == 5 && again != record.Unmade {
			t.Fatalf("decision %d comes out %q: %v", i, again, err)
		}
		renamed = append(renamed, out)
	}
	data := written(t, renamed, 0)
	got, err := read(data)
	if err != nil || len(got) != len(entries) {
		t.Fatal(len(got), err)
	}
	for i, e := range got {
		var b bytes.Buffer
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"new-3", "claim-3", "node-3", `"default"`} {
			if strings.Contains(b.String(), name) {
				t.Fatalf("decision %d still says %s", i, name)
			}
		}
		if len(e.Plan.New) != len(entries[i].Plan.New) || e.Plan.Cost != entries[i].Plan.Cost {
			t.Errorf("decision %d buys for %v, want %v", i, e.Plan.Cost, entries[i].Plan.Cost)
		}
	}
}

// Lists that mostly stay are told by what changed, wherever that is.
func TestListsOfPlans(t *testing.T) {
	kept := func(names string) (out []plan.Kept) {
		for _, n := range names {
			out = append(out, plan.Kept{Claim: string(n), Why: &reason.Why{Code: reason.Code(n)}})
		}
		return out
	}
	w := world.NewBuilder().Snapshot(1)
	var entries []journal.Entry
	for _, names := range []string{"", "abcdef", "abcdef", "bcdef", "abXcdef", "fedcba", "", "zabc", strings.Repeat("a", 200), strings.Repeat("a", 199) + "b"} {
		entries = append(entries, journal.Entry{Kind: journal.GiveBack, World: w, Plan: plan.Plan{Kept: kept(names)}})
	}
	got, err := read(written(t, entries, 0))
	if err != nil || len(got) != len(entries) {
		t.Fatal(len(got), err)
	}
	alike(t, entries, got)
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, story(f, 3), 2))
	f.Add([]byte("tenon-recording/v1\n\xf7TnRC\x02\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = read(data) })
}
