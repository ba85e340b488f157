package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() release {
	return release{Version: "v1.2.3", Commit: "abc", Date: time.Unix(1_700_000_000, 0).UTC()}
}

// read is a blob of an image as JSON.
func read(t *testing.T, dir string, d descriptor, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "blobs", strings.Replace(d.Digest, ":", "/", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if digest(data) != d.Digest || len(data) != d.Size {
		t.Errorf("blob %s is %s, %d bytes long, want %d", d.Digest, digest(data), len(data), d.Size)
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = data
		return
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// make makes an image of programs that are none.
func makeImage(t *testing.T) (dir, digest string) {
	t.Helper()
	i := image{release: sample()}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := i.add(arch, []byte("a program for "+arch)); err != nil {
			t.Fatal(err)
		}
	}
	dir = t.TempDir()
	digest, err := i.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, digest
}

// What a registry is given, from the outermost part to the bytes of the program.
func TestImage(t *testing.T) {
	dir, whole := makeImage(t)
	var top, all manifest
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &top); err != nil {
		t.Fatal(err)
	}
	if len(top.Manifests) != 1 || top.Manifests[0].Digest != whole || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Fatalf("the layout names %v", top.Manifests)
	}
	read(t, dir, top.Manifests[0], &all)
	if len(all.Manifests) != 2 {
		t.Fatalf("there are %d images, want one for each architecture", len(all.Manifests))
	}
	for _, d := range all.Manifests {
		var m manifest
		var c config
		read(t, dir, d, &m)
		read(t, dir, *m.Config, &c)
		if c.OS != "linux" || c.Architecture != d.Platform.Architecture || c.Config.User != "65532:65532" || c.Config.Entrypoint[0] != "/usr/local/bin/tenon" || c.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
			t.Errorf("the image for %s is %+v", d.Platform.Architecture, c)
		}
		got := map[string]string{}
		for n, l := range m.Layers {
			var layer []byte
			read(t, dir, l, &layer)
			unpack(t, layer, c.RootFS.DiffIDs[n], got)
		}
		if want := "-rwxr-xr-x a program for " + c.Architecture; got["usr/local/bin/tenon"] != want {
			t.Errorf("the program is %q, want %q", got["usr/local/bin/tenon"], want)
		}
		if got["tmp/"] != "dtrwxrwxrwx " || !strings.Contains(got["etc/passwd"], "nonroot:x:65532:65532:") {
			t.Errorf("files are %q", got)
		}
		if roots := x509.NewCertPool(); !roots.AppendCertsFromPEM([]byte(got["etc/ssl/certs/ca-certificates.crt"])) || strings.Count(got["etc/ssl/certs/ca-certificates.crt"], "BEGIN") < 50 {
			t.Error("hardly an authority is trusted")
		}
	}
}

// unpack notes mode and content of what is in a layer.
func unpack(t *testing.T, layer []byte, want string, into map[string]string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if digest(plain) != want {
		t.Errorf("a layer is %s, its configuration says %s", digest(plain), want)
	}
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(sample().Date) {
			t.Errorf("%s is of %d:%d and of %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		into[h.Name] = fmt.Sprintf("%s %s", h.FileInfo().Mode(), data)
	}
}

func TestTheSameImageAgain(t *testing.T) {
	_, one := makeImage(t)
	if _, two := makeImage(t); one != two {
		t.Errorf("the same release is %s and %s", one, two)
	}
}

// The Dockerfile and this program make the same image.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(org\.opencontainers\.image\.\w+)="([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		got[m[1]] = m[2]
	}
	if diff := cmp.Diff(labels(), got); diff != "" {
		t.Errorf("labels: -want +got\n%s", diff)
	}
	for _, want := range []string{"FROM scratch", "USER " + user, fmt.Sprintf("ENTRYPOINT [%q]", entrypoint), "go run ./tools/release", "COPY --from=build /image /", "WORKDIR /"} {
		if !strings.Contains(string(text), want+"\n") && !strings.Contains(string(text), want+" ") {
			t.Errorf("the Dockerfile has no %q", want)
		}
	}
}

// A program tells itself what it is made of.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	text, err := sample().bill(program)
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		BOMFormat, SerialNumber string
		Components              []struct{ Name, PURL string }
		Dependencies            []struct{ Ref string }
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, c := range b.Components {
		names[c.Name] = c.PURL
	}
	if b.BOMFormat != "CycloneDX" || names["std"] == "" || !strings.HasPrefix(names["sigs.k8s.io/yaml"], "pkg:golang/sigs.k8s.io/yaml@v") || len(b.Dependencies) != len(b.Components)+1 {
		t.Errorf("the bill is\n%.2000s", text)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(b.SerialNumber) {
		t.Errorf("the serial number is %q", b.SerialNumber)
	}
}

// The charts of a release are of its version and name its image by what it is.
func TestCharts(t *testing.T) {
	r := sample()
	r.Out, r.Image = t.TempDir(), "registry.example/team/tenon"
	if err := r.charts("sha256:0123"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(r.Out, "karpenter-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nversion: 1.2.3\n", "\nappVersion: v1.2.3\n", "\n    repository: registry.example/team/tenon\n", "\n    digest: sha256:0123\n"} {
		if !bytes.Contains(plain, []byte(want)) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"-version", "1.2.3"}, {"-version", "latest"}, {"-targets", "linux"}} {
		if err := run(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
