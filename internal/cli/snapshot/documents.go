package snapshot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/record"
)

// document is one object as it stands in a file.
type document struct {
	file  string
	index int // counted from 1
	line  int // where it starts
	data  []byte
}

// where names the document for a person.
func (d document) where() string {
	return fmt.Sprintf("%s: document %d (line %d)", d.file, d.index, d.line)
}

// Document is one document of a file, as JSON.
type Document struct {
	Where string // for a person
	JSON  []byte // a map, or a list of them
}

// Documents reads the documents of files, folders and "-" for in, for verbs
// that look at the objects themselves.
func Documents(paths []string, in io.Reader) ([]Document, error) {
	docs, err := documents(paths, in)
	if err != nil {
		return nil, err
	}
	out := make([]Document, len(docs))
	for i, d := range docs {
		data, err := asJSON(bytes.TrimSpace(d.data))
		var h head
		if err == nil && !bytes.HasPrefix(data, []byte("[")) {
			err = json.Unmarshal(data, &h)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.where(), unreadable(d, err))
		}
		out[i] = Document{d.where(), data}
	}
	return out, nil
}

// documents is readAll of files that must hold something.
func documents(paths []string, in io.Reader) ([]document, error) {
	docs, err := readAll(paths, in)
	if err == nil && len(docs) == 0 {
		return nil, errors.New(strings.Join(paths, ", ") + ": no document in it: give Kubernetes objects as YAML or JSON")
	}
	return docs, err
}

// readAll reads every document of the paths: files, folders (their .yaml, .yml
// and .json files, sorted) and "-" for in.
func readAll(paths []string, in io.Reader) ([]document, error) {
	var out []document
	for _, p := range paths {
		files, err := filesOf(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			data, err := readFile(f, in)
			if err != nil {
				return nil, err
			}
			docs, err := split(f, data)
			if err != nil {
				return nil, err
			}
			out = append(out, docs...)
		}
	}
	return out, nil
}

func filesOf(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(p)) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", path, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("folder %s holds no .yaml, .yml or .json file", path)
	}
	return files, nil
}

// readFile reads a file, or standard input, uncompressed.
func readFile(path string, in io.Reader) ([]byte, error) {
	var data []byte
	var err error
	if path == "-" {
		if data, err = io.ReadAll(in); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	} else if data, err = os.ReadFile(path); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(zip)
	}
	if err != nil {
		return nil, fmt.Errorf("uncompress %s: %w", path, err)
	}
	return data, nil
}

// split cuts a file at its "---" lines, around lines that are a JSON object of
// their own, and between JSON objects that follow one another.
func split(file string, data []byte) ([]document, error) {
	data, err := text(file, data)
	if err != nil {
		return nil, err
	}
	var out []document
	var part []byte
	start, line := 1, 0
	end := func() {
		if len(bytes.TrimSpace(part)) > 0 && !onlyComments(part) {
			for _, one := range stream(part) {
				out = append(out, document{file: file, index: len(out) + 1, line: start + bytes.Count(part[:one.at], []byte("\n")), data: one.data})
			}
		}
		part = nil
	}
	scan := bufio.NewReader(bytes.NewReader(data))
	for {
		text, err := scan.ReadBytes('\n')
		line++
		first, begins := marker(text)
		switch {
		case begins:
			end()
			part, start = first, line
		case bytes.Equal(bytes.TrimSpace(text), []byte("...")) && text[0] == '.':
			end()
		case wholeObject(text) && onlyComments(part):
			part, start = text, line
			end()
		case bytes.HasPrefix(text, []byte("%")) && onlyComments(part): // a directive for readers of YAML
		default:
			if len(bytes.TrimSpace(part)) == 0 {
				start = line
			}
			part = append(part, text...)
		}
		if err != nil {
			end()
			return out, nil
		}
	}
}

// text is a file without the mark of its byte order, in lines that end in a newline.
func text(file string, data []byte) ([]byte, error) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return nil, fmt.Errorf("%s: the text is UTF-16: save the file as UTF-8", file)
		}
	}
	if record.IsRecording(data) {
		return nil, fmt.Errorf("%s is a recording of decisions: it is read by tenon replay, tenon record and tenon report", file)
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, fmt.Errorf("%s: byte %d is NUL: this is not a text file", file, i)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, '\n') < 0 {
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	}
	return data, nil
}

// marker reports whether a line begins a document, and with what of it: the
// line "--- {kind: Pod}" has all of one.
func marker(line []byte) ([]byte, bool) {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	if !found || len(bytes.TrimSpace(bytes.TrimLeft(rest, "-"))) == 0 {
		return nil, found
	}
	if rest[0] != ' ' && rest[0] != '\t' {
		return nil, false
	}
	return append([]byte("   "), rest...), true
}

// value is one of several JSON values and where it begins.
type value struct {
	at   int
	data []byte
}

// stream cuts a part that is JSON between its values; what is not stays whole.
func stream(part []byte) []value {
	whole := []value{{0, part}}
	if t := bytes.TrimSpace(part); t[0] != '{' || json.Valid(t) {
		return whole
	}
	var out []value
	for d := json.NewDecoder(bytes.NewReader(part)); ; {
		var v json.RawMessage
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			return whole
		}
		out = append(out, value{int(d.InputOffset()) - len(v), v})
	}
}

// wholeObject reports whether a line is a JSON object of its own.
func wholeObject(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) > 1 && t[0] == '{' && t[len(t)-1] == '}' && json.Valid(t)
}

func onlyComments(data []byte) bool {
	for l := range strings.Lines(string(data)) {
		if t := strings.TrimSpace(l); t != "" && !strings.HasPrefix(t, "#") {
			return false
		}
	}
	return true
}
