package snapshot

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

// journalTimeout is how long a controller may take to send what it kept.
const journalTimeout = 2 * time.Minute

// Decisions reads the decisions of a file, a folder, standard input or a controller: a journal, a recording or a report
// of a bug. Of a recording that is not whole all that is sound is read; what is wrong with it is a *record.DamageError.
func Decisions(ctx context.Context, from string, in io.Reader, each func(journal.Entry) error) error {
	if from == "-" {
		return read(in, each)
	}
	if isURL(from) {
		return fetchJournal(ctx, from, each)
	}
	files := []string{from}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		if files, err = journal.Files(from); err != nil {
			return err
		}
	}
	for _, name := range files {
		if err := readDecisions(name, each); err != nil {
			return err
		}
	}
	return nil
}

// Open opens the answer of the first of the ways to a controller's pages that answers.
func Open(ctx context.Context, doors []Endpoint, path string, query url.Values) (io.ReadCloser, error) {
	var errs []error
	for _, d := range doors {
		if d.ByRights { // its API has neither metrics nor a journal
			continue
		}
		body, err := d.Get(ctx, path, query)
		if err == nil {
			return body, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", d.Name, err))
	}
	if len(errs) == 0 {
		return nil, errors.New("no controller was found; name it with --controller")
	}
	return nil, errors.Join(errs...)
}

// NoDecisions says that no decision was found, and where there would be one.
func NoDecisions(from string) string {
	switch info, err := os.Stat(from); {
	case isURL(from):
		return from + ": the controller has kept no decision yet: it makes one when a pod waits or a node may go"
	case err == nil && info.IsDir():
		return fmt.Sprintf("folder %s holds no decision: want that of a controller's --journal-dir, whose files end in %s, or files that end in .json", from, journal.Extension)
	case from == "-":
		from = "standard input"
	}
	if isRecording(from) {
		return from + " is a recording, and no decision was recorded yet"
	}
	return from + " is empty: want a journal, as a controller gives at /journal, or the world of a decision"
}

// isRecording reports whether a file begins as a recording.
func isRecording(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, record.MagicLen)
	n, _ := f.ReadAt(start, 0)
	return record.IsRecording(start[:n])
}

func readDecisions(name string, each func(journal.Entry) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	how := read
	magic := make([]byte, len(zipped))
	if n, _ := f.ReadAt(magic, 0); string(magic[:n]) == zipped { // what cannot be read twice is none
		how = bugReport
	}
	if err := how(f, each); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// read reads a recording or a journal, either of which may be compressed by gzip.
func read(r io.Reader, each func(journal.Entry) error) error {
	in := bufio.NewReader(r)
	if start, _ := in.Peek(len(gzipped)); string(start) == gzipped {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("uncompress: %w", err)
		}
		in = bufio.NewReader(zip)
	}
	if start, _ := in.Peek(record.MagicLen); record.IsRecording(start) {
		return record.Read(untilCut{in}, each)
	}
	return journal.Read(in, each)
}

// gzipped is how a file begins that is compressed by gzip.
const gzipped = "\x1f\x8b"

// untilCut reads what is cut off as if it ended there: recordings tell by themselves where they are cut.
type untilCut struct{ io.Reader }

// Read is io.Reader's.
func (u untilCut) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// zipped is how a report of a bug begins, which is a zip file.
const zipped = "PK\x03\x04"

// bugReport reads the decisions of a report of a bug, in the order in which they were made.
func bugReport(r io.Reader, each func(journal.Entry) error) error {
	f, ok := r.(*os.File)
	if !ok {
		return errors.New("a report of a bug is read from a file")
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	parts, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("it is no report of a bug, or is cut off: %w", err)
	}
	slices.SortFunc(parts.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	found := false
	for _, p := range parts.File {
		if !strings.HasPrefix(p.Name, "decisions/") || !strings.HasSuffix(p.Name, ".json") {
			continue
		}
		found = true
		content, err := p.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := errors.Join(journal.Read(content, each), content.Close()); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if !found {
		return errors.New("it is a report of a bug without decisions, or another zip file; README.txt in it says why there are none")
	}
	return nil
}

// fetchJournal reads what a controller has in memory.
func fetchJournal(ctx context.Context, address string, each func(journal.Entry) error) error {
	ctx, stop := context.WithTimeout(ctx, journalTimeout)
	defer stop()
	at := strings.TrimSuffix(address, "/") + "/journal"
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return fmt.Errorf("ask the controller for what it kept: %w; its pages are on its metrics port: kubectl port-forward -n karpenter deployment/karpenter 8080", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: this is not a controller's metrics port, or an older one", at, answer.Status)
	}
	if err := journal.Read(answer.Body, each); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}
