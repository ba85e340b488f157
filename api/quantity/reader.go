package quantity

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Unreadable is a quantity in an object of this API that cannot be read.
type Unreadable struct {
	Name  string // of the object, if its metadata came first, as an API server writes it
	Path  string // of the field
	Value string // at most MaxLength and one bytes of it
}

// Reason says what is wrong with the value, and what to write.
func (u Unreadable) Reason() string { return reason }

// holders are the fields of this API whose entries are quantities.
var holders = []string{"limits", "resources", "requests", "capacity", "allocatable"}

// Mend returns the JSON text with "0" in place of each quantity that cannot be read, and says which these are.
func Mend(text []byte) ([]byte, []Unreadable) {
	var found []Unreadable
	m := mender{found: func(u Unreadable) { found = append(found, u) }}
	m.write(text)
	if len(found) == 0 {
		return text, nil
	}
	return m.out.Bytes(), found
}

// NewReader reads the JSON documents of from, with "0" in place of each quantity that cannot be read, and passes each of
// these to found. Nothing is held back but the text of a quantity that has not ended, so it may stand before a watch.
//
// Zero, since an amount that cannot be read must never look like room: a pool with such a limit buys nothing and keeps what it has.
func NewReader(from io.ReadCloser, found func(Unreadable)) io.ReadCloser {
	return &reader{from: from, mender: mender{found: found}, room: make([]byte, 32<<10)}
}

type reader struct {
	from   io.ReadCloser
	mender mender
	room   []byte
	err    error
}

func (r *reader) Read(p []byte) (int, error) {
	for r.mender.out.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var n int
		n, r.err = r.from.Read(r.room)
		r.mender.write(r.room[:n])
	}
	return r.mender.out.Read(p)
}

func (r *reader) Close() error { return r.from.Close() }

// mender follows JSON text byte by byte, knowing at each string which field it is in.
type mender struct {
	found func(Unreadable)
	out   bytes.Buffer

	open    []frame // the objects and lists around
	name    string  // of the object at hand
	text    []byte  // the string at hand, at most MaxLength and one bytes
	role    role
	escaped bool
}

// frame is an object or a list that has not ended.
type frame struct {
	list  bool
	key   string // of an object: the last read
	value bool   // of an object: what comes is the value of key
}

// role is what the string at hand is.
type role byte

const (
	outside role = iota // there is none
	key
	plain
	amount // which is held back until it has ended
)

func (m *mender) write(text []byte) {
	for _, c := range text {
		if m.role == outside {
			m.step(c)
		} else {
			m.within(c)
		}
	}
}

func (m *mender) step(c byte) {
	m.out.WriteByte(c)
	top := m.top()
	switch c {
	case '{', '[':
		m.open = append(m.open, frame{list: c == '['})
	case '}', ']':
		if len(m.open) > 0 {
			m.open = m.open[:len(m.open)-1]
		}
	case ':':
		top.value = true
	case ',':
		top.value = false
	case '"':
		m.text = m.text[:0]
		switch {
		case top.list || len(m.open) == 0:
			m.role = plain
		case !top.value:
			m.role = key
		case m.isAmount():
			m.role = amount
		default:
			m.role = plain
		}
	}
}

func (m *mender) top() *frame {
	if len(m.open) == 0 {
		return &frame{}
	}
	return &m.open[len(m.open)-1]
}

// within is a byte of a string.
func (m *mender) within(c byte) {
	if m.role != amount {
		m.out.WriteByte(c)
	}
	if c == '"' && !m.escaped {
		m.end()
		return
	}
	m.escaped = c == '\\' && !m.escaped
	if len(m.text) <= MaxLength {
		m.text = append(m.text, c)
	}
}

func (m *mender) end() {
	role := m.role
	m.role = outside
	switch {
	case role == key:
		m.top().key = string(m.text)
	case role == plain && m.above(0) == "name" && m.above(1) == "metadata":
		m.name = string(m.text)
	case role == amount:
		// An escape is legal JSON, though no writer has a reason for it in a quantity: it is not read.
		if s := string(m.text); !Readable(s) {
			m.found(Unreadable{Name: m.name, Path: m.path(), Value: s})
			m.text = append(m.text[:0], '0')
		}
		m.out.Write(m.text)
		m.out.WriteByte('"')
	}
}

// above is the key of the nth object around, or nothing.
func (m *mender) above(n int) string {
	if i := len(m.open) - 1 - n; i >= 0 {
		return m.open[i].key
	}
	return ""
}

// isAmount reports whether the value that begins is a quantity.
func (m *mender) isAmount() bool {
	if m.above(0) == "volumeSize" {
		return true
	}
	in := m.above(1)
	// An EC2NodeClass has the same two fields below kubelet, where they may hold expressions.
	return slices.Contains(holders, in) || (in == "systemReserved" || in == "kubeReserved") && m.above(2) == "kubeletConfiguration"
}

// path is where in its object the value is.
func (m *mender) path() string {
	var parts []string
	for _, f := range m.open {
		if f.list {
			parts = append(parts, "[]")
		} else {
			parts = append(parts, f.key)
		}
	}
	path := strings.ReplaceAll(strings.Join(parts, "."), ".[]", "[]")
	for _, around := range []string{"items[].", "object."} { // of a list and of a watch
		path = strings.TrimPrefix(path, around)
	}
	return path
}
