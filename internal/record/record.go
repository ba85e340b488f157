// Package record keeps decisions one after the other in one file, each World as what changed since the one before.
//
// A recording is made of chapters. Each begins with a whole World, so that the
// oldest can be dropped whole, and so that what is behind a damaged place can be
// read. What is decided again of a recording is what was decided of the same
// Worlds: they come back with their digests.
package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// opening is the content of the frame that begins a chapter.
type opening struct {
	World string `json:"world"` // the form of items
	At    int64  `json:"at"`
}

// decided is the content of the frame that ends an entry. Of the plan the lists that mostly stay as they are, are
// written as they differ from the last plan of the kind.
type decided struct {
	At      int64                `json:"at"`
	World   string               `json:"world"` // its digest
	Kind    string               `json:"kind,omitempty"`
	Release string               `json:"release,omitempty"`
	Options journal.Options      `json:"options,omitzero"`
	Panic   string               `json:"panic,omitempty"`
	Parted  string               `json:"parted,omitempty"`
	Shadow  bool                 `json:"shadow,omitempty"`
	Deleted map[string]string    `json:"deleted,omitempty"`
	Plan    plan.Plan            `json:"plan"`
	Kept    []step[plan.Kept]    `json:"kept,omitempty"`
	Refused []step[plan.Refusal] `json:"refused,omitempty"`
}

// Encoder writes a recording.
type Encoder struct {
	frames

	last  *world.World         // of the chapter; nil: the next entry begins one
	plans map[string]plan.Plan // the last of each kind in the chapter
}

// NewEncoder returns an Encoder to what holds nothing yet, and writes the first line there.
func NewEncoder(to io.Writer) (*Encoder, error) {
	_, err := io.WriteString(to, head)
	return &Encoder{frames: frames{to: to}}, err
}

// Begin has the next entry begin a chapter.
func (e *Encoder) Begin() { e.last, e.plans = nil, nil }

// Beat writes that nothing was decided.
func (e *Encoder) Beat() error { return e.put(beat, nil) }

// Add writes an entry. After an error nothing more may be added before Begin.
func (e *Encoder) Add(of journal.Entry) error {
	if e.last == nil {
		e.plans = map[string]plan.Plan{}
		if err := e.put(chapter, opening{world.Format, of.World.At()}); err != nil {
			return err
		}
	}
	for _, part := range parts(of.World.Since(e.last)) {
		if err := e.put(items, part); err != nil {
			return fmt.Errorf("write the world %s: %w", of.World.Digest(), err)
		}
	}
	before, d := e.plans[of.Kind], decided{
		At: of.World.At(), World: of.World.Digest(), Kind: of.Kind, Release: of.Release, Options: of.Options, Panic: of.Panic, Parted: of.Parted,
		Shadow: of.Shadow, Deleted: of.Deleted, Plan: of.Plan,
	}
	d.Kept, d.Refused = steps(before.Kept, of.Plan.Kept), steps(before.Refused, of.Plan.Refused)
	d.Plan.Kept, d.Plan.Refused = nil, nil
	if err := e.put(decision, d); err != nil {
		return fmt.Errorf("write the decision about %s: %w", of.World.Digest(), err)
	}
	e.last, e.plans[of.Kind] = of.World, of.Plan
	return nil
}

// mostItems is how many items are written at once, so that a World of any size is written with little memory.
const mostItems = 500

// parts cuts changes into parts. A catalogue, which is as large as a thousand pods, is one by itself.
func parts(c world.Changes) (out []world.Changes) {
	cut(c.Catalogs, 1, &out, func(p *world.Changes, some []*world.Catalog) { p.Catalogs = some })
	cut(c.Resales, 1, &out, func(p *world.Changes, some []*world.Resale) { p.Resales = some })
	cut(c.Nodes, mostItems, &out, func(p *world.Changes, some []*world.Node) { p.Nodes = some })
	cut(c.Claims, mostItems, &out, func(p *world.Changes, some []*world.Claim) { p.Claims = some })
	cut(c.Pods, mostItems, &out, func(p *world.Changes, some []*world.Pod) { p.Pods = some })
	c.Catalogs, c.Resales, c.Nodes, c.Claims, c.Pods = nil, nil, nil, nil, nil
	if some(c) {
		out = append(out, c)
	}
	return out
}

func cut[T any](list []T, size int, out *[]world.Changes, put func(*world.Changes, []T)) {
	for chunk := range slices.Chunk(list, size) {
		var p world.Changes
		put(&p, chunk)
		*out = append(*out, p)
	}
}

// some reports whether what is left of changes beside the long lists holds anything.
func some(c world.Changes) bool {
	g := c.Gone
	return len(c.Pools)+len(c.DaemonSets)+len(c.Namespaces)+len(c.Guards)+len(c.Backoffs)+
		len(g.Pools)+len(g.Catalogs)+len(g.DaemonSets)+len(g.Namespaces)+len(g.Guards)+len(g.Nodes)+len(g.Claims)+len(g.Pods)+len(g.Backoffs) > 0
}

// DamageError is what is wrong with a recording of which all that is sound was read.
type DamageError struct {
	Read  int    // entries that were read
	At    int64  // byte where the first damage begins
	Why   string // empty: nothing is damaged
	Again int    // places behind which it could be read again
	Other int    // Worlds that have another digest than was recorded
}

// Error says what is wrong, and what that costs.
func (d *DamageError) Error() string {
	var parts []string
	if d.Why != "" {
		parts = append(parts, d.where())
	}
	if d.Other > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d Worlds of the recording have another digest here than when they were recorded: it was changed, or the release that recorded them reads Worlds otherwise", d.Other, d.Read))
	}
	return strings.Join(parts, "; ")
}

// IsDamage reports whether all that is sound of a recording was read in spite of an error.
func IsDamage(err error) bool {
	_, ok := errors.AsType[*DamageError](err)
	return ok
}

func (d *DamageError) where() string {
	text := fmt.Sprintf("the recording cannot be read as a whole: at byte %d %s; ", d.At, d.Why)
	switch {
	case d.Read == 0:
		return text + "no decision could be read"
	case d.Again > 0 && d.Read == 1:
		return text + "1 decision is sound and was read"
	case d.Again > 0:
		return text + fmt.Sprintf("%d decisions are sound, some of them behind that, and were read", d.Read)
	case d.Read == 1:
		return text + "the decision before that is sound and was read"
	}
	return text + fmt.Sprintf("the %d decisions before that are sound and were read", d.Read)
}

// mostDamage is how many damaged places are passed over. A file with more is something else.
const mostDamage = 16

// IsRecording reports whether a file that begins so is a recording, of whatever version. One that is cut off in its first
// word is, too.
func IsRecording(start []byte) bool {
	cut := len(start) >= leastFamily && strings.HasPrefix(family, string(start))
	return cut || strings.HasPrefix(string(start), family)
}

// leastFamily is with how many bytes of its first word a file is no accident.
const leastFamily = len("tenon-")

// MagicLen is how many bytes of a file IsRecording needs.
const MagicLen = len(family)

// decoder reads a recording.
type decoder struct {
	scanner

	builder *world.Builder // nil: no chapter has begun
	plans   map[string]plan.Plan
	read    int
	other   int // Worlds with another digest than was recorded
	each    func(journal.Entry) error
	stopped bool // by each
}

// Read calls each with one entry after the other. All that is sound is read; what is not is returned as a DamageError after
// that. Anything that is no recording of this version is refused.
func Read(r io.Reader, each func(journal.Entry) error) error {
	d := decoder{scanner: scanner{in: bufio.NewReaderSize(r, 64<<10)}, each: each}
	if err := d.first(); err != nil {
		return err
	}
	var damage DamageError
	for {
		at := d.at
		err := d.entry()
		switch {
		case errors.Is(err, io.EOF):
			return d.fault(damage)
		case err == nil:
			continue
		case d.stopped:
			return err
		}
		if damage.Why == "" {
			damage.At, damage.Why = at, err.Error()
		} else if damage.Again == mostDamage {
			return fmt.Errorf("it is damaged in more than %d places, the first at byte %d: it is no recording that can be used", mostDamage, damage.At)
		}
		d.builder = nil
		more, err := d.skip()
		if err != nil {
			return err
		}
		if !more {
			return d.fault(damage)
		}
		damage.Again++
	}
}

// fault is what is wrong with what was read; nil: nothing.
func (d *decoder) fault(damage DamageError) error {
	damage.Read, damage.Other = d.read, d.other
	if damage.Why == "" && damage.Other == 0 {
		return nil
	}
	return &damage
}

// first reads the first line.
func (d *decoder) first() error {
	line, err := d.in.Peek(len(head))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	named, _, whole := strings.Cut(string(line), "\n")
	switch {
	case string(line) == head:
	case !IsRecording(line):
		return fmt.Errorf("it is no recording: it does not begin with %s", Format)
	case !whole && strings.HasPrefix(head, named):
		return errHeadCut
	case named == Format+"\r":
		return errors.New("at byte 18 its first line ends as lines of Windows do: it was copied as if it were text, and cannot be read. Copy it as it is")
	default:
		return fmt.Errorf("its form is %q, and this release reads %s: read it with the release that wrote it", named, Format)
	}
	_, err = d.in.Discard(len(head))
	d.at = int64(len(head))
	return err
}

// entry reads frames up to the end of the next entry, and passes that on. io.EOF: there is none.
func (d *decoder) entry() error {
	for {
		f, err := d.next()
		if err != nil {
			return err
		}
		if f.kind != chapter && f.kind != beat && d.builder == nil {
			return errChanged
		}
		switch f.kind {
		case chapter:
			if err := d.chapter(f); err != nil {
				return err
			}
		case items:
			var c world.Changes
			if err := f.into(&c); err != nil {
				return fmt.Errorf("items cannot be read: %w", err)
			}
			if err := d.builder.Apply(c); err != nil {
				return err
			}
		case beat:
		case decision:
			return d.decision(f)
		default:
			return fmt.Errorf("is a part of kind %q, which this release does not know", f.kind)
		}
	}
}

func (d *decoder) chapter(f frame) error {
	var o opening
	if err := f.into(&o); err != nil {
		return fmt.Errorf("a chapter begins that cannot be read: %w", err)
	}
	if o.World != world.Format {
		return fmt.Errorf("a chapter begins with Worlds of the form %q, and this release reads %s", o.World, world.Format)
	}
	d.builder, d.plans = world.NewBuilder(), map[string]plan.Plan{}
	return nil
}

func (d *decoder) decision(f frame) error {
	var of decided
	if err := f.into(&of); err != nil {
		return fmt.Errorf("a decision cannot be read: %w", err)
	}
	before := d.plans[of.Kind]
	var ok, ok2 bool
	if of.Plan.Kept, ok = walk(before.Kept, of.Kept); ok {
		of.Plan.Refused, ok2 = walk(before.Refused, of.Refused)
	}
	if !ok || !ok2 {
		return errors.New("a plan refers to parts of an earlier one that are not there")
	}
	w := d.builder.Snapshot(of.At)
	if w.Digest() != of.World {
		d.other++
	}
	d.plans[of.Kind] = of.Plan
	d.read++
	err := d.each(journal.Entry{Kind: of.Kind, World: w, Options: of.Options, Plan: of.Plan, Panic: of.Panic, Release: of.Release, Parted: of.Parted, Shadow: of.Shadow, Deleted: of.Deleted})
	d.stopped = err != nil
	return err
}
