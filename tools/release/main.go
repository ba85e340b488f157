// Command release makes what is published: static programs, their bills of materials, archives for kubectl's plugin
// manager, an image for several architectures, the charts, and a list of checksums. The same source and arguments make the same bytes.
//
// It needs Go and nothing else: no docker, no registry, no network once modules are there.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/charts"
	repository "github.com/tenon-sh/tenon/internal/playground/charts"
)

// A release is what is to be made.
type release struct {
	Version string // v1.2.3
	Commit  string
	Date    time.Time // of the commit: nothing in a release knows when it was made
	Targets []target  // that programs are made for; the image has those of linux
	Image   string    // where the image is published, for the charts; empty: they name none
	Out     string
}

// A target is a system that a program runs on.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "/" + t.Arch }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	var r release
	f.StringVar(&r.Version, "version", "v0.0.0-dev", "of the release, as v1.2.3")
	f.StringVar(&r.Commit, "commit", "", "hash of the source")
	date := f.Int64("date", 0, "when the commit was made, in seconds since 1970")
	targets := f.String("targets", "linux/amd64,linux/arm64", "what programs are made for")
	f.StringVar(&r.Image, "image", "", "repository where the image will be published; the charts then name it, by its digest")
	f.StringVar(&r.Out, "out", "dist", "directory to write to; what was in it is removed")
	root := f.String("root", "", "write the files of the image for the first target to this directory, and nothing else")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if !regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`).MatchString(r.Version) {
		return fmt.Errorf("-version %q: write it as v1.2.3 or v1.2.3-rc.1", r.Version)
	}
	r.Date = time.Unix(*date, 0).UTC()
	for t := range strings.SplitSeq(*targets, ",") {
		system, arch, ok := strings.Cut(t, "/")
		if !ok {
			return fmt.Errorf("-targets %q: write linux/amd64,linux/arm64", t)
		}
		r.Targets = append(r.Targets, target{system, arch})
	}
	if *root != "" {
		return r.writeRoot(*root)
	}
	return r.make()
}

// make writes everything.
func (r release) make() error {
	if err := os.RemoveAll(r.Out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	i := image{release: r}
	var archives []archive
	for _, t := range r.Targets {
		name := fmt.Sprintf("tenon-%s-%s", t.OS, t.Arch)
		program, err := r.build(t)
		if err != nil {
			return err
		}
		bill, err := r.bill(program)
		if err != nil {
			return fmt.Errorf("bill of materials of %s: %w", t, err)
		}
		if err := errors.Join(r.write(name, program, 0o755), r.write(name+".cdx.json", bill, 0o644)); err != nil {
			return err
		}
		a, err := r.archive(t, program)
		if err != nil {
			return fmt.Errorf("plugin for %s: %w", t, err)
		}
		archives = append(archives, a)
		if t.OS == "linux" {
			if err := i.add(t.Arch, program); err != nil {
				return fmt.Errorf("image for %s: %w", t, err)
			}
		}
	}
	digest, err := i.write(filepath.Join(r.Out, "image"))
	if err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := r.plugin(archives); err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	if err := r.charts(digest); err != nil {
		return fmt.Errorf("charts: %w", err)
	}
	template, err := os.ReadFile("deploy/aws/cloudformation.yaml")
	if err != nil {
		return err
	}
	if err := r.write("cloudformation.yaml", template, 0o644); err != nil {
		return err
	}
	return r.sums()
}

func (r release) write(name string, data []byte, mode fs.FileMode) error {
	return os.WriteFile(filepath.Join(r.Out, name), data, mode)
}

// charts packs the charts as this release of them.
func (r release) charts(digest string) error {
	version := strings.TrimPrefix(r.Version, "v")
	for _, name := range []string{"karpenter", "karpenter-crd"} {
		data, err := repository.Pack(charts.Files(), name, func(file string, text []byte) []byte {
			switch {
			case file == "Chart.yaml":
				text = set(text, "version", version)
				text = set(text, "appVersion", r.Version)
			case file == "values.yaml" && r.Image != "" && name == "karpenter":
				text = set(text, "    repository", r.Image)
				text = set(text, "    digest", digest)
			}
			return text
		})
		if err == nil {
			err = r.write(name+"-"+version+".tgz", data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set gives a key of a YAML text, told with its indentation, another value.
func set(text []byte, key, value string) []byte {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `: .*$`)
	return line.ReplaceAll(text, []byte(key+": "+value))
}

// sums writes the checksums of all that was made but the image, whose parts are called by theirs.
func (r release) sums() error {
	files, err := os.ReadDir(r.Out)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.Out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return r.write("SHA256SUMS", out.Bytes(), 0o644)
}
