package journal_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// folder returns a Folder and what makes it write all it was given.
func folder(t *testing.T, path string, limit int64) (*journal.Folder, func()) {
	t.Helper()
	f, err := journal.NewFolder(path, limit, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return f, func() {
		done, stop := context.WithCancel(t.Context())
		stop()
		if err := f.Start(done); err != nil {
			t.Error(err)
		}
	}
}

func read(t *testing.T, path string) []journal.Entry {
	t.Helper()
	files, err := journal.Files(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []journal.Entry
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Read(bytes.NewReader(data), func(e journal.Entry) error { out = append(out, e); return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return out
}

// What is read back is what was kept, and deciding again gives the same plan.
func TestKeptIsRead(t *testing.T) {
	path := t.TempDir()
	f, flush := folder(t, path, 1<<20)
	w := enginetest.Apps(30)
	o := provision.Options{PreferencePolicy: pack.Ignore, Steps: 10_000}
	j := journal.New(4, "v1", f.Add)
	want := journal.Entry{Kind: "provisioner", World: w, Options: journal.Options{Provision: o}, Plan: provision.Decide(w, o)}
	j.Add(want)
	j.Add(want)
	flush()
	got := read(t, path)
	if len(got) != 1 {
		t.Fatalf("%d entries, want one: a repeated decision is kept once", len(got))
	}
	e := got[0]
	if e.World.Digest() != w.Digest() || e.Kind != want.Kind || e.Release != "v1" || e.Options.Provision != o {
		t.Errorf("kept %+v as %+v", want, e)
	}
	if diff := cmp.Diff(want.Plan, e.Plan); diff != "" {
		t.Errorf("the plan came back otherwise -want +got\n%s", diff)
	}
	if diff := cmp.Diff(want.Plan, provision.Decide(e.World, e.Options.Provision)); diff != "" {
		t.Errorf("decided again -want +got\n%s", diff)
	}
}

// A folder stays within its limit, newest entries first, and cleans up behind a process that was cut off.
func TestFolderIsBounded(t *testing.T) {
	path := t.TempDir()
	half := filepath.Join(path, ".writing-1")
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, flush := folder(t, path, 1000)
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("half a file stays: %v", err)
	}
	for at := range int64(20) {
		f.Add(journal.Entry{Kind: "provisioner", World: world.NewBuilder().Snapshot(at)})
	}
	flush()
	files, err := journal.Files(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	kept := read(t, path)
	if sum > 1000 || len(kept) < 2 || kept[len(kept)-1].World.At() != 19 {
		t.Errorf("%d bytes in %d files, the last of %d", sum, len(kept), kept[len(kept)-1].World.At())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"tenon-decision/v1","kind":"x","world":{"format":"tenon-world/v1","at":1}}`))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = journal.Read(bytes.NewReader(data), func(journal.Entry) error { return nil })
	})
}
