package record

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Format names the form of recordings. It is the first line of each.
const Format = "tenon-recording/v1"

// family is how the first line begins, of whatever version.
const family = "tenon-recording/"

// head is the first line.
const head = Format + "\n"

// The kinds of frame.
const (
	chapter  = 'C' // what follows needs nothing of what came before
	items    = 'I' // changes of the World, as world.Changes
	decision = 'D' // the World is complete: what was decided of it
	beat     = 'B' // nothing: the sender of a recording is still there
)

// mark begins each frame, so that the next chapter is found behind what is damaged.
const mark = "\xf7TnR"

const (
	// overhead is what a frame has before its content: the mark, its kind, how long the content is, and a sum.
	overhead = len(mark) + 1 + 4 + 4
	// mostRaw is how large the content of a frame may be when it is uncompressed. What says that it has more is damaged.
	mostRaw = 32 << 20
)

// errTooLarge is that something does not fit into a frame.
var errTooLarge = errors.New("it is larger than a recording can hold")

// frames writes frames. Each has a sum over itself and those before it in its chapter, so that none can be left out,
// changed or moved without notice.
type frames struct {
	to  io.Writer
	sum uint32
	zip *flate.Writer
	buf bytes.Buffer
}

// put writes a frame with a value as its content, or none for nil.
func (f *frames) put(kind byte, v any) error {
	f.buf.Reset()
	f.buf.WriteString(mark)
	f.buf.WriteByte(kind)
	f.buf.Write(make([]byte, 8)) // length and sum, once they are known
	if v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(raw) > mostRaw {
			return errTooLarge
		}
		if f.zip == nil {
			f.zip, _ = flate.NewWriter(nil, flate.DefaultCompression) // the level is one that there is
		}
		f.zip.Reset(&f.buf)
		_, _ = f.zip.Write(raw) // a buffer takes all
		_ = f.zip.Close()
	}
	if kind == chapter {
		f.sum = 0
	}
	whole := f.buf.Bytes()
	binary.BigEndian.PutUint32(whole[len(mark)+1:], uint32(len(whole)-overhead)) //nolint:gosec // compressed it is no larger than mostRaw and a little
	f.sum = sumOf(f.sum, kind, whole[overhead:])
	binary.BigEndian.PutUint32(whole[len(mark)+5:], f.sum)
	_, err := f.to.Write(whole)
	if f.buf.Cap() > 1<<20 { // that of a catalogue, which is not written again for long
		f.buf = bytes.Buffer{}
	}
	return err
}

// sumOf is the sum of a frame that follows one with the sum before.
func sumOf(before uint32, kind byte, content []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	start := binary.BigEndian.AppendUint32(nil, uint32(len(content))) //nolint:gosec // see put
	return crc32.Update(crc32.Update(before, table, append(start, kind)), table, content)
}

// frame is one that was read.
type frame struct {
	kind    byte
	content []byte
}

// into reads the content into a value. Fields that this release does not know are refused: what they say would be left out.
func (f frame) into(v any) error {
	zip := flate.NewReader(bytes.NewReader(f.content))
	raw, err := io.ReadAll(io.LimitReader(zip, mostRaw+1))
	switch {
	case err != nil:
		return fmt.Errorf("uncompress: %w", err)
	case len(raw) > mostRaw:
		return errTooLarge
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err = dec.Decode(v)
	if err != nil {
		if field, strange := strings.CutPrefix(err.Error(), "json: unknown field "); strange { // the library has no type for it
			return fmt.Errorf("there is a field %s, which this release does not know: read it with the release that wrote it", field)
		}
	}
	return err
}

// What can be wrong with where a frame should be.
var (
	errCut     = errors.New("it ends in the middle of an entry")
	errChanged = errors.New("it is not as it was written")
	errHeadCut = errors.New("it is cut off in its first line: nothing of the recording is there")
)

// scanner reads frames.
type scanner struct {
	in  *bufio.Reader
	at  int64 // byte that is read next
	sum uint32
}

// next returns the next frame; io.EOF where the recording ends as it should. After any other error it stands before the
// frame that is at fault, or where that was known by its mark alone.
func (s *scanner) next() (frame, error) {
	start, err := s.in.Peek(overhead)
	switch {
	case len(start) == 0 && errors.Is(err, io.EOF):
		return frame{}, io.EOF
	case !bytes.HasPrefix(start, []byte(mark)[:min(len(mark), len(start))]):
		return frame{}, errChanged
	case errors.Is(err, io.EOF):
		return frame{}, errCut
	case err != nil:
		return frame{}, err
	}
	kind, length, sum := start[len(mark)], binary.BigEndian.Uint32(start[len(mark)+1:]), binary.BigEndian.Uint32(start[len(mark)+5:])
	if length > mostRaw+mostRaw/8 {
		return frame{}, errChanged
	}
	whole := bytes.NewBuffer(bytes.Clone(start))
	if _, err := s.in.Discard(overhead); err != nil {
		return frame{}, err
	}
	n, err := io.Copy(whole, io.LimitReader(s.in, int64(length)))
	back := func(err error) (frame, error) {
		s.in = bufio.NewReaderSize(io.MultiReader(whole, s.in), 64<<10)
		return frame{}, err
	}
	if err != nil {
		return back(err)
	}
	if n < int64(length) {
		return back(errCut)
	}
	content := whole.Bytes()[overhead:]
	before := s.sum
	if kind == chapter {
		before = 0
	}
	if sumOf(before, kind, content) != sum {
		return back(errChanged)
	}
	s.sum = sum
	s.at += int64(overhead) + n
	return frame{kind, content}, nil
}

// skip goes on to where the next chapter may begin, behind the byte that is next; false if there is none.
func (s *scanner) skip() (bool, error) {
	begin := append([]byte(mark), chapter)
	for first := 1; ; first = 0 {
		got, err := s.in.Peek(32 << 10)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
		if len(got) <= first {
			return false, nil
		}
		i := bytes.Index(got[first:], begin)
		n := len(got) - len(begin) + 1
		if i >= 0 {
			n = i + first
		} else if errors.Is(err, io.EOF) {
			return false, nil
		}
		s.at += int64(n)
		if _, err := s.in.Discard(n); err != nil {
			return false, err
		}
		if i >= 0 {
			return true, nil
		}
	}
}
