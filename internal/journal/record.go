package journal

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Format names the JSON form of an entry.
const Format = "tenon-decision/v2"

// earlier is the form of earlier releases. What they decided to buy is read as it
// is. About giving back they made several decisions, each of another form: of
// these the World is read, and that there was one.
const earlier = "tenon-decision/v1"

// IsFormat reports whether a format is that of an entry, of this release or an earlier one.
func IsFormat(format string) bool { return format == Format || format == earlier }

// record is the JSON form.
type record struct {
	Format  string          `json:"format"`
	Kind    string          `json:"kind"`
	Release string          `json:"release,omitempty"`
	Options Options         `json:"options,omitzero"`
	Panic   string          `json:"panic,omitempty"`
	Shadow  bool            `json:"shadow,omitempty"`
	Plan    plan.Plan       `json:"plan"`
	World   json.RawMessage `json:"world"`

	Deleted map[string]string `json:"deleted,omitempty"`
}

// Write writes an entry as one line of JSON.
func (e Entry) Write(w io.Writer) error {
	at, err := json.Marshal(e.World)
	if err == nil {
		err = json.NewEncoder(w).Encode(record{Format: Format, Kind: e.Kind, Release: e.Release, Options: e.Options, Panic: e.Panic, Shadow: e.Shadow, Plan: e.Plan, World: at, Deleted: e.Deleted})
	}
	if err != nil {
		return fmt.Errorf("write decision about %s: %w", e.World.Digest(), err)
	}
	return nil
}

// Read reads the entries of a stream, compressed or not, and calls each with
// one after the other. A World without a plan becomes an entry without a kind.
func Read(r io.Reader, each func(Entry) error) error {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("uncompress: %w", err)
		}
		in = bufio.NewReader(zip)
	}
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if _, strange := errors.AsType[*json.SyntaxError](err); strange && n == 1 {
			return fmt.Errorf("it holds no decisions: want a journal, as a controller gives at /journal, or the world of a decision (%w)", err)
		} else if err != nil {
			return fmt.Errorf("decision %d: %w", n, err)
		}
		e, err := decode(raw)
		if err != nil {
			return fmt.Errorf("decision %d: %w", n, err)
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

func decode(data []byte) (Entry, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return Entry{}, err
	}
	parted := ""
	switch r.Format {
	case Format:
	case earlier:
		if r.Kind != Buy && r.Kind != "" {
			parted, r.Kind, r.Options, r.Plan, r.Panic = r.Kind, "", Options{}, plan.Plan{}, ""
		}
	case world.Format:
		r.World = data
	default:
		return Entry{}, fmt.Errorf("format is %q, want %q", r.Format, Format)
	}
	w, err := world.Read(r.World)
	return Entry{Kind: r.Kind, World: w, Options: r.Options, Plan: r.Plan, Panic: r.Panic, Release: r.Release, Parted: parted, Shadow: r.Shadow, Deleted: r.Deleted}, err
}

// WorldOf returns the World in the JSON form of an entry.
func WorldOf(data []byte) ([]byte, error) {
	var r record
	err := json.Unmarshal(data, &r)
	return r.World, err
}
