package journal

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/panics"
)

// Extension is how the files of a Folder end.
const Extension = ".json.gz"

// writing is how files begin that are not complete yet.
const writing = ".writing-"

// backlog is how many entries may wait to be written before more are left out.
const backlog = 32

// Folder writes entries to files of a folder, one each, compressed, the oldest
// making room when there are too many bytes of them. Decisions never wait for
// it: what it cannot write in time it leaves out.
type Folder struct {
	path   string
	limit  int64 // bytes
	failed func(error)
	queue  chan Entry
}

// NewFolder returns a Folder, of which the path is made if it is not there.
// What goes wrong later is passed to failed.
func NewFolder(path string, limit int64, failed func(error)) (*Folder, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("folder for the journal: %w", err)
	}
	half, err := filepath.Glob(filepath.Join(path, writing+"*"))
	for _, name := range half { // of a process that was cut off
		err = cmp.Or(err, os.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("folder for the journal: %w", err)
	}
	return &Folder{path: path, limit: limit, failed: failed, queue: make(chan Entry, backlog)}, nil
}

// Add has an entry written soon.
func (f *Folder) Add(e Entry) {
	select {
	case f.queue <- e:
	default:
		f.failed(fmt.Errorf("the queue of the journal is full (%[2]d): the decision about %[1]s is not written", e.World.Digest(), backlog))
	}
}

// NeedLeaderElection is the manager's: the replica that decides also writes.
func (f *Folder) NeedLeaderElection() bool { return false }

// Start writes until ctx ends, and then what still waits.
func (f *Folder) Start(ctx context.Context) error {
	for {
		select {
		case e := <-f.queue:
			f.keep(e)
		case <-ctx.Done():
			for {
				select {
				case e := <-f.queue:
					f.keep(e)
				default:
					return nil
				}
			}
		}
	}
}

func (f *Folder) keep(e Entry) {
	var err error
	broke := panics.Caught(func() {
		if err = f.write(e); err == nil {
			err = f.trim()
		}
	})
	if broke != nil {
		err = fmt.Errorf("keep a decision: %w", broke)
	}
	if err != nil {
		f.failed(err)
	}
}

// write writes an entry beside its file first, so that no file is ever half one.
func (f *Folder) write(e Entry) (err error) {
	digest := strings.TrimPrefix(e.World.Digest(), "sha256:")
	name := fmt.Sprintf("%s-%s-%.12s%s", time.Unix(e.World.At(), 0).UTC().Format("20060102T150405Z"), e.Kind, digest, Extension)
	temporary, err := os.CreateTemp(f.path, writing+"*")
	if err != nil {
		return fmt.Errorf("keep a decision: %w", err)
	}
	zip := gzip.NewWriter(temporary)
	err = cmp.Or(e.Write(zip), zip.Close(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(f.path, name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep a decision: %w", err), os.Remove(temporary.Name()))
	}
	return nil
}

// trim removes the oldest files until what is left is within the limit.
func (f *Folder) trim() error {
	names, err := Files(f.path)
	if err != nil {
		return err
	}
	sizes := make([]int64, len(names))
	sum := int64(0)
	for i, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("size of the journal: %w", err)
		}
		sizes[i] = info.Size()
		sum += sizes[i]
	}
	for i := 0; sum > f.limit && i < len(names)-1; i++ {
		if err := os.Remove(names[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the journal: %w", err)
		}
		sum -= sizes[i]
	}
	return nil
}

// Files returns the files of entries in a folder, the oldest first.
func Files(path string) ([]string, error) {
	found, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	var out []string
	for _, d := range found {
		if !d.IsDir() && !strings.HasPrefix(d.Name(), ".") && (strings.HasSuffix(d.Name(), Extension) || strings.HasSuffix(d.Name(), ".json")) {
			out = append(out, filepath.Join(path, d.Name()))
		}
	}
	slices.Sort(out)
	return out, nil
}
