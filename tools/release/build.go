package main

import (
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// build compiles the program for a target: static, and without anything that tells where or when it was compiled.
func (r release) build(t target) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "tenon")
	cmd := exec.Command("go", "build", "-o", program, "-trimpath", "-buildvcs=false", "-ldflags", r.linker(), "./cmd/tenon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.OS, "GOARCH="+t.Arch, "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("compile for %s: %w", t, err)
	}
	return os.ReadFile(program)
}

// linker is what the linker is told: no symbols, and which release this is.
func (r release) linker() string {
	return strings.Join([]string{"-s", "-w", "-buildid=", "-X main.release=" + r.Version, "-X main.commit=" + r.Commit}, " ")
}

// A file is one of the image.
type file struct {
	name string
	mode int64
	data []byte // nil: a directory
}

// files are those of the image beside the program: the user it runs as, the authorities it trusts, and a folder to write to.
func files() []file {
	return []file{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()},
		{"tmp/", 0o1777, nil},
	}
}

// program is where the image has it.
const program = "usr/local/bin/tenon"

func executable(data []byte) []file {
	return []file{{"usr/", 0o755, nil}, {"usr/local/", 0o755, nil}, {"usr/local/bin/", 0o755, nil}, {program, 0o755, data}}
}

// authorities are the certificates of public authorities, in the version that go.mod names. Those that are trusted
// within limits are left out, because the file cannot say limits.
func authorities() []byte {
	var out []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return out
}

// writeRoot writes the files of the image for the first target, for those who make images by other means.
func (r release) writeRoot(dir string) error {
	data, err := r.build(r.Targets[0])
	if err != nil {
		return err
	}
	for _, f := range append(files(), executable(data)...) {
		path := filepath.Join(dir, f.name)
		if f.data == nil {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, f.data, os.FileMode(f.mode&0o777)) //nolint:gosec // a mode
		}
		if err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(dir, "tmp"), 0o777|os.ModeSticky)
}
