package host

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// A line of a log is kept as container runtimes keep it: the time at which it
// began, always as long as this, a blank, and the line.
const stampLayout = "2006-01-02T15:04:05.000000000Z"

// stamped writes lines with the time at which they came.
type stamped struct {
	out    io.Writer
	now    func() time.Time
	inLine bool // what was written last did not end its line
}

func (s *stamped) Write(b []byte) (int, error) {
	var stamp []byte
	var text bytes.Buffer
	for line := range bytes.Lines(b) {
		if !s.inLine {
			if stamp == nil {
				stamp = append(s.now().UTC().AppendFormat(nil, stampLayout), ' ')
			}
			text.Write(stamp)
		}
		text.Write(line)
		s.inLine = line[len(line)-1] != '\n'
	}
	if _, err := s.out.Write(text.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// errEnough ends the copying of a log of which no more is wanted.
var errEnough = errors.New("as much as was asked for")

// shown writes on what a reader asked for of lines that were stamped: those since a time, with or without the stamp,
// and so many bytes at most.
type shown struct {
	out    io.Writer
	since  time.Time
	stamps bool
	left   int64  // bytes; below zero: no limit
	begun  bool   // the first line since that time was seen
	part   []byte // of a line whose rest is to come
}

func (s *shown) Write(b []byte) (int, error) {
	s.part = append(s.part, b...)
	end := bytes.LastIndexByte(s.part, '\n') + 1
	var text bytes.Buffer
	for line := range bytes.Lines(s.part[:end]) {
		s.show(&text, line)
	}
	s.part = append(s.part[:0], s.part[end:]...)
	if s.left >= 0 && int64(text.Len()) >= s.left {
		text.Truncate(int(s.left))
		_, err := s.out.Write(text.Bytes())
		return len(b), errors.Join(err, errEnough)
	}
	if s.left >= 0 {
		s.left -= int64(text.Len())
	}
	if text.Len() > 0 {
		if _, err := s.out.Write(text.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// show adds a line if it is one that was asked for. A line without a stamp belongs to the one before it.
func (s *shown) show(text *bytes.Buffer, line []byte) {
	at, bare := time.Time{}, line
	if n := len(stampLayout); len(line) > n && line[n] == ' ' {
		if t, err := time.Parse(stampLayout, string(line[:n])); err == nil {
			at, bare = t, line[n+1:]
		}
	}
	if !s.begun && at.Before(s.since) {
		return
	}
	s.begun = true
	if s.stamps {
		bare = line
	}
	text.Write(bare)
}
