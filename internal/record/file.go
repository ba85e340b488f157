package record

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/tenon-sh/tenon/internal/journal"
)

const (
	// LeastLimit is how few bytes a recording may be allowed to have: a chapter of a small cluster fits.
	LeastLimit = 1 << 20
	// chapters is about how many a full recording has: with the oldest goes so much of it.
	chapters = 8
	// cutting is how the name of a file ends that takes the place of a recording once it is complete.
	cutting = ".cutting"
)

// errFull is that an entry does not fit behind what is there.
var errFull = errors.New("the recording is full")

// File is a recording of a bounded size. It never has more than its limit of bytes; while the oldest chapters are
// dropped, a copy of what stays, half of the limit at most, stands beside it.
type File struct {
	path  string
	limit int64

	mu      sync.Mutex
	file    *os.File
	encoder *Encoder
	size    int64   // of all entries that are whole
	wrote   int64   // of the entry that is being written
	begun   []int64 // where chapters begin
	whole   int64   // how much the World took with which the last chapter begins
	entries int
	last    int64 // when the last was decided
}

// OpenFile opens a recording to be gone on with, or makes one. What was cut off at its end goes. A file that is no
// recording of this version is left alone.
func OpenFile(path string, limit int64) (*File, error) {
	if limit < LeastLimit {
		return nil, fmt.Errorf("recording %s: the limit is %d bytes, want at least %d", path, limit, LeastLimit)
	}
	if err := os.Remove(path + cutting); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was ended
		return nil, fmt.Errorf("recording: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	f := &File{path: path, limit: limit, file: file}
	if err := f.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("recording %s: %w", path, err), file.Close())
	}
	return f, nil
}

// resume finds where what is there ends.
func (f *File) resume() error {
	f.encoder = &Encoder{frames: frames{to: f}}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no file that can be written and read again")
	}
	if info.Size() == 0 {
		return f.start()
	}
	d := decoder{scanner: scanner{in: bufio.NewReaderSize(f.file, 64<<10)}}
	if err := d.first(); errors.Is(err, errHeadCut) { // by a process that was ended
		return f.start()
	} else if err != nil {
		return err
	}
	f.size = d.at
	open := int64(0) // where the chapter begins of which no entry is whole yet
	var last frame
	for {
		at := d.at
		fr, err := d.next()
		if err != nil { // its end, or damage: what is behind is not whole
			break
		}
		if fr.kind == chapter {
			open = at
		}
		if fr.kind == decision && (open > 0 || len(f.begun) > 0) {
			if open > 0 {
				f.begun, open = append(f.begun, open), 0
			}
			f.size, f.entries, last = d.at, f.entries+1, fr
		}
	}
	if f.entries > 0 {
		var of decided
		if err := last.into(&of); err != nil {
			return fmt.Errorf("its last entry cannot be read: %w", err)
		}
		f.last = of.At
	}
	return f.back()
}

// start makes the file an empty recording.
func (f *File) start() error {
	f.size, f.begun = 0, nil
	if err := f.back(); err != nil {
		return err
	}
	if _, err := f.file.WriteString(head); err != nil {
		return err
	}
	f.size = int64(len(head))
	return nil
}

// back takes back what is behind the last whole entry.
func (f *File) back() error {
	f.wrote = 0
	f.encoder.Begin()
	if err := f.file.Truncate(f.size); err != nil {
		return err
	}
	_, err := f.file.Seek(f.size, io.SeekStart)
	return err
}

// Write is the Encoder's. It writes nothing beyond the limit.
func (f *File) Write(b []byte) (int, error) {
	if f.size+f.wrote+int64(len(b)) > f.limit {
		return 0, errFull
	}
	n, err := f.file.Write(b)
	f.wrote += int64(n)
	return n, err
}

// Add adds an entry, and drops the oldest chapters if there is no room for it. What cannot be added is left out, and
// what was there stays.
func (f *File) Add(e journal.Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.alone()
	if err == nil {
		err = f.add(e)
	}
	for _, room := range []func() error{f.drop, f.start} {
		if !errors.Is(err, errFull) {
			break
		}
		if err = room(); err == nil {
			err = f.add(e)
		}
	}
	if errors.Is(err, errFull) {
		err = fmt.Errorf("the World alone takes more than the %d bytes that it may have: allow it more", f.limit)
	}
	if err != nil {
		return fmt.Errorf("recording %s: %w", f.path, err)
	}
	return nil
}

// alone says if another program has written to the file.
func (f *File) alone() error {
	info, err := f.file.Stat()
	if err == nil && info.Size() != f.size {
		err = fmt.Errorf("it has %d bytes and %d were written: another program writes to it", info.Size(), f.size)
	}
	return err
}

func (f *File) add(e journal.Entry) error {
	if n := len(f.begun); n == 0 || f.size-f.begun[n-1] > max(f.limit/chapters, 2*f.whole) {
		f.encoder.Begin()
	}
	first := f.encoder.last == nil
	err := f.encoder.Add(e)
	if err != nil {
		return errors.Join(err, f.back())
	}
	if first {
		f.begun, f.whole = append(f.begun, f.size), f.wrote
	}
	f.size, f.wrote, f.entries, f.last = f.size+f.wrote, 0, f.entries+1, e.World.At()
	return nil
}

// drop drops the oldest chapters, so that half of the room is free. If there is only one it goes.
func (f *File) drop() (err error) {
	keep := len(f.begun)
	for keep > 0 && f.size-f.begun[keep-1]+int64(len(head)) <= f.limit/2 {
		keep--
	}
	if keep == len(f.begun) {
		return f.start()
	}
	from := f.begun[keep]
	to, err := os.OpenFile(f.path+cutting, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, head)
	if err == nil {
		_, err = io.Copy(to, io.NewSectionReader(f.file, from, f.size-from))
	}
	if err = cmp.Or(err, to.Sync()); err == nil {
		err = os.Rename(to.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, to.Close(), os.Remove(to.Name()))
	}
	err = f.file.Close()
	f.file = to
	shift := from - int64(len(head))
	f.begun = f.begun[keep:]
	for i := range f.begun {
		f.begun[i] -= shift
	}
	f.size -= shift
	return errors.Join(err, f.back())
}

// Size is how many bytes there are.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// Entries is how many entries were found and added.
func (f *File) Entries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entries
}

// Last is when the last entry was decided, in seconds since 1970.
func (f *File) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Snapshot opens what is there now, to be read while it is gone on with.
func (f *File) Snapshot() (io.ReadCloser, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in, err := os.Open(f.path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the recording: %w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(in, f.size), in}, f.size, nil
}

// Close ends it.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cmp.Or(f.file.Sync(), f.file.Close())
}
