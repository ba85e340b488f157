package crds_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

func TestTheAPIServerTakesTheCRDs(t *testing.T) {
	for name, k := range newServer(t) {
		for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), k.crd) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccepted(t *testing.T) {
	s := newServer(t)
	for _, file := range files(t, "testdata/accept") {
		t.Run(file, func(t *testing.T) {
			for _, object := range documents(t, read(t, file)) {
				if errs := s.create(t, object); len(errs) > 0 {
					t.Errorf("%v was refused: %v", object["kind"], errs.ToAggregate())
				}
			}
		})
	}
}

// TestRefused reads files with several objects. Above each stand comments with what the refusal must say:
// "# path: text", the field's path and a part of the message.
func TestRefused(t *testing.T) {
	s := newServer(t)
	for _, file := range files(t, "testdata/refuse") {
		t.Run(file, func(t *testing.T) {
			for _, part := range strings.Split(string(read(t, file)), "\n---\n") {
				refused(t, s, part)
			}
		})
	}
}

func refused(t *testing.T, s server, part string) {
	t.Helper()
	wants := expectations(part)
	for _, object := range documents(t, []byte(part)) {
		errs := s.create(t, object)
		if len(errs) == 0 {
			t.Errorf("accepted, want refused with %q:\n%s", wants, part)
			return
		}
		var said []string
		for _, e := range errs {
			said = append(said, e.Error())
		}
		for _, want := range wants {
			if !mentioned(said, want) {
				t.Errorf("want a refusal with %q, got\n\t%s", want, strings.Join(said, "\n\t"))
			}
		}
	}
}

// mentioned reports whether one of the messages begins with the path and holds the text.
func mentioned(said []string, want string) bool {
	path, text, _ := strings.Cut(want, ": ")
	for _, s := range said {
		if strings.HasPrefix(s, path+":") && strings.Contains(s, text) {
			return true
		}
	}
	return false
}

func expectations(part string) []string {
	var wants []string
	for line := range strings.Lines(part) {
		want, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if ok && strings.Contains(want, ": ") {
			wants = append(wants, want)
		}
	}
	return wants
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".yaml" {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(all), err)
	}
	return all
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
