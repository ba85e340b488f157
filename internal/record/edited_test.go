package record_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/record"
)

// edited is a recording of which every part was changed by someone who knows its form, so that all sums are right.
func edited(t *testing.T, data []byte, change func(kind byte, content string) string) []byte {
	t.Helper()
	const head, overhead = len("tenon-recording/v1\n"), 4 + 1 + 4 + 4
	out := bytes.Clone(data[:head])
	sum := uint32(0)
	for rest := data[head:]; len(rest) > 0; {
		kind, length := rest[4], binary.BigEndian.Uint32(rest[5:])
		var packed bytes.Buffer
		if length > 0 {
			raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(rest[overhead : overhead+length])))
			if err != nil {
				t.Fatal(err)
			}
			z, err := flate.NewWriter(&packed, flate.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(z, change(kind, string(raw))); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
		rest = rest[overhead+length:]
		if kind == 'C' {
			sum = 0
		}
		size := binary.BigEndian.AppendUint32(nil, uint32(packed.Len()))
		table := crc32.MakeTable(crc32.Castagnoli)
		sum = crc32.Update(crc32.Update(sum, table, append(bytes.Clone(size), kind)), table, packed.Bytes())
		out = append(append(out, "\xf7TnR"...), kind)
		out = append(binary.BigEndian.AppendUint32(append(out, size...), sum), packed.Bytes()...)
	}
	return out
}

// What was changed with care, or written by a release that knows more, is told for what it is, with the place.
func TestAnEditIsTold(t *testing.T) {
	entries := story(t, 12)
	data := written(t, entries, 4)
	replace := func(in byte, what, with string) func(byte, string) string {
		return func(kind byte, content string) string {
			if kind == in {
				return strings.Replace(content, what, with, 1)
			}
			return content
		}
	}
	last := replace('I', `"name":"new-11"`, `"name":"old-11"`)
	for name, tc := range map[string]struct {
		why    string
		change func(byte, string) string
		read   int
		want   string
	}{
		"Nothing": {"Packed otherwise it is the same.", func(_ byte, c string) string { return c }, 12, ""},
		"World": {
			"A World that was changed is read, and its digest is another.", last, 12,
			"1 of 12 Worlds of the recording have another digest here than when they were recorded: it was changed, or the release that recorded them reads Worlds otherwise",
		},
		"LaterItem": {
			"A field that this release does not know would be left out: what has it is not read.", replace('I', `"waiting":true`, `"waiting":true,"newField":1`), 0,
			`items cannot be read: there is a field "newField", which this release does not know: read it with the release that wrote it; no decision could be read`,
		},
		"LaterPlan": {
			"Nor is a decision.", replace('D', `{"at"`, `{"newField":1,"at"`), 0,
			`at byte 19 a decision cannot be read: there is a field "newField", which this release does not know: read it with the release that wrote it; no decision could be read`,
		},
		"LaterWorlds": {
			"Worlds of another form are not read.", replace('C', `"world":"tenon-world/`, `"world":"tenon-world/9`), 0,
			`at byte 19 a chapter begins with Worlds of the form "tenon-world/9`,
		},
		"OneChapter": {
			"What comes after the chapter is.", replace('I', `"name":"new-1"`, `"name":"new-1","newField":1`), 9,
			`there is a field "newField", which this release does not know: read it with the release that wrote it; 9 decisions are sound, some of them behind that, and were read`,
		},
		"NoJSON": {
			"What is no JSON is said to be none.", replace('D', `{"at"`, `{at`), 0,
			"a decision cannot be read: invalid character",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(edited(t, data, tc.change))
			if tc.want == "" {
				if err != nil || len(got) != tc.read {
					t.Errorf("%s\n%d are read, and it says %v", tc.why, len(got), err)
				}
				return
			}
			var damage *record.DamageError
			if !errors.As(err, &damage) || len(got) != tc.read || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\n%d are read, want %d, and it says %v\nwant %s", tc.why, len(got), tc.read, err, tc.want)
			}
		})
	}
}
