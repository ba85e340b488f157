package app

import (
	"bytes"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Whatever others have written into objects, a line of the log is one line of UTF-8.
func TestLogIsUTF8(t *testing.T) {
	const bad = "lies \xff\xfe"
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		log := NewLog(LogConfig{Out: &b, Err: &b, JSON: asJSON, Level: NewDynamicLevel(InfoLevel), Now: clock.At(time.Unix(0, 0))})
		log.WithName(bad).WithValues(bad, bad).Info(bad, "reason", bad)
		log.Error(errors.New(bad), bad)
		if !utf8.Valid(b.Bytes()) || bytes.Count(b.Bytes(), []byte("\n")) != 2 {
			t.Errorf("JSON %t: %q", asJSON, b.String())
		}
	}
}

// A program that is told to end says no error for it, and a candidate none for each try to lead.
func TestCalm(t *testing.T) {
	var b bytes.Buffer
	log := Calm(NewLog(LogConfig{Out: &b, Err: &b, Level: NewDynamicLevel(InfoLevel), Now: clock.At(time.Unix(0, 0))}))
	log.Error(errors.New("leader election lost"), "error received after stop sequence was engaged")
	log.WithName("client").WithValues("a", 1).Error(errors.New("x"), "Failed to update lease")
	if b.Len() > 0 {
		t.Errorf("%s", b.String())
	}
	if log.Error(errors.New("x"), "anything else"); b.Len() == 0 {
		t.Error("other errors are not said")
	}
}
