package label

import "encoding/binary"

// AppendIdentity appends a text that two Sets share only if they are equal:
// every part says how long it is.
func (s Set) AppendIdentity(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, r := range s {
		b = r.AppendIdentity(b)
	}
	return b
}

// AppendIdentity appends a text that two Requirements share only if they are equal.
func (r Requirement) AppendIdentity(b []byte) []byte {
	b = AppendText(b, r.Key)
	b = AppendFlags(b, r.Not, r.Present, r.Min != nil, r.Max != nil)
	if r.Min != nil {
		b = binary.AppendVarint(b, *r.Min)
	}
	if r.Max != nil {
		b = binary.AppendVarint(b, *r.Max)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Values)))
	for _, v := range r.Values {
		b = AppendText(b, v)
	}
	return b
}

// AppendText appends s and how long it is.
func AppendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// AppendFlags appends each flag as one byte.
func AppendFlags(b []byte, flags ...bool) []byte {
	for _, f := range flags {
		c := byte(0)
		if f {
			c = 1
		}
		b = append(b, c)
	}
	return b
}
