package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-logr/logr"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Level is how much is logged.
type Level int

// The levels.
const (
	ErrorLevel Level = iota
	InfoLevel
	DebugLevel
)

// ParseLevel reads the name of a level.
func ParseLevel(s string) (Level, error) {
	switch strings.ToLower(s) {
	case "error":
		return ErrorLevel, nil
	case "info", "":
		return InfoLevel, nil
	case "debug":
		return DebugLevel, nil
	}
	return InfoLevel, fmt.Errorf("log level %q: use debug, info or error", s)
}

// LogConfig says how the log looks and where it goes.
type LogConfig struct {
	Out, Err io.Writer // Err takes errors
	JSON     bool
	Level    *DynamicLevel // how much is logged
	Commit   string
	Now      clock.Now
}

// NewLog returns a log with one line a record: on the console the time, the
// level, the name, the message and the fields as JSON, between tabs.
func NewLog(c LogConfig) logr.Logger {
	return logr.New(&sink{config: c, mu: &sync.Mutex{}})
}

// sink writes records. Copies share the lock, not the fields.
type sink struct {
	config LogConfig
	mu     *sync.Mutex
	name   string
	fields []any
}

// Init is logr's.
func (s *sink) Init(logr.RuntimeInfo) {}

// Enabled is logr's.
func (s *sink) Enabled(level int) bool { return Level(level)+InfoLevel <= s.config.Level.At() }

// Info is logr's. What libraries say of themselves is for those who debug.
func (s *sink) Info(level int, message string, fields ...any) {
	if strings.HasPrefix(s.name, "controller-runtime") {
		level++
	}
	if !s.Enabled(level) {
		return
	}
	name := "INFO"
	if level > 0 {
		name = "DEBUG"
	}
	s.write(s.config.Out, name, message, fields)
}

// Error is logr's.
func (s *sink) Error(err error, message string, fields ...any) {
	if err != nil {
		fields = append(fields[:len(fields):len(fields)], "error", err.Error())
	}
	s.write(s.config.Err, "ERROR", message, fields)
}

// WithValues is logr's.
func (s *sink) WithValues(fields ...any) logr.LogSink {
	out := *s
	out.fields = append(s.fields[:len(s.fields):len(s.fields)], fields...)
	return &out
}

// WithName is logr's.
func (s *sink) WithName(name string) logr.LogSink {
	out := *s
	if out.name != "" {
		name = out.name + "." + name
	}
	out.name = name
	return &out
}

// stamp is the time as the log shows it.
const stamp = "2006-01-02T15:04:05.000Z"

func (s *sink) write(to io.Writer, level, message string, fields []any) {
	at := s.config.Now().UTC().Format(stamp)
	var b bytes.Buffer
	all := append(s.fields[:len(s.fields):len(s.fields)], fields...)
	if s.config.JSON {
		head := []any{"level", level, "time", at}
		if s.name != "" {
			head = append(head, "logger", s.name)
		}
		head = append(head, "message", message, "commit", s.config.Commit)
		object(&b, append(head, all...), ",", ":")
	} else {
		parts := []string{at, level}
		if s.name != "" {
			parts = append(parts, s.name)
		}
		b.WriteString(strings.Join(append(parts, message), "\t") + "\t")
		object(&b, append([]any{"commit", s.config.Commit}, all...), ", ", ": ")
	}
	b.WriteByte('\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = to.Write(bytes.ToValidUTF8(b.Bytes(), []byte(string(utf8.RuneError)))) // there is nowhere left to say that the log cannot be written
}

// object writes keys and values, in order; of a key that comes twice the last counts.
func object(b *bytes.Buffer, fields []any, comma, colon string) {
	last := map[string]int{}
	for i := 0; i+1 < len(fields); i += 2 {
		last[fmt.Sprint(fields[i])] = i
	}
	b.WriteByte('{')
	first := true
	for i := 0; i+1 < len(fields); i += 2 {
		key := fmt.Sprint(fields[i])
		if last[key] != i {
			continue
		}
		if !first {
			b.WriteString(comma)
		}
		first = false
		b.WriteString(text(key) + colon + text(fields[i+1]))
	}
	b.WriteByte('}')
}

// text is a value as JSON; what JSON cannot say is said as text.
func text(v any) string {
	switch x := v.(type) {
	case error:
		v = x.Error()
	case fmt.Stringer:
		v = x.String()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		b.Reset()
		_ = e.Encode(fmt.Sprintf("%+v", v)) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
