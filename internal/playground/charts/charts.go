// Package charts serves charts on the loopback interface, as a classic repository and as an OCI registry.
//
// A chart is there under every version that is asked for, so that commands written for other releases can be followed
// as they are; the classic index lists those it is asked to list.
package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"
)

// A Repository serves charts.
type Repository struct {
	charts   fs.FS
	versions []string

	mu    sync.Mutex
	blobs map[string]blob // by digest; what a manifest that was asked for names
}

// A blob is a manifest, a configuration or an archive.
type blob struct {
	kind string
	data []byte
}

// New returns a repository of charts, each in a folder of its name, listed under versions besides their own.
func New(charts fs.FS, versions ...string) (*Repository, error) {
	r := &Repository{charts: charts, versions: versions, blobs: map[string]blob{}}
	names, err := r.names()
	if err == nil && len(names) == 0 {
		err = errors.New("there is no chart in any of its folders")
	}
	return r, err
}

// Serve answers on a port of the loopback interface until the returned function is called.
func (r *Repository) Serve() (address string, close func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		_ = s.Serve(l)
	}()
	return l.Addr().String(), func() { _ = s.Close(); <-done }, nil
}

// names are the charts there are.
func (r *Repository) names() ([]string, error) {
	found, err := fs.Glob(r.charts, "*/Chart.yaml")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range found {
		out = append(out, path.Dir(f))
	}
	return out, nil
}

// The ways of the two protocols that are offered.
const (
	archivePath  = `^/([a-z0-9-]+)-(v?[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*)\.tgz$`
	manifestPath = `^/v2/(?:[a-z0-9./-]+/)?([a-z0-9-]+)/manifests/([A-Za-z0-9._:-]+)$`
	blobPath     = `^/v2/[a-z0-9./-]+/blobs/(sha256:[0-9a-f]{64})$`
	tagsPath     = `^/v2/((?:[a-z0-9./-]+/)?[a-z0-9-]+)/tags/list$`
)

// ServeHTTP implements http.Handler.
func (r *Repository) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		http.Error(w, "the repository is read only", http.StatusMethodNotAllowed)
		return
	}
	match := func(pattern string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(q.URL.Path) }
	switch at := q.URL.Path; {
	case at == "/v2" || at == "/v2/":
		answer(w, q, blob{"application/json", []byte("{}")}, nil)
	case at == "/index.yaml":
		b, err := r.index()
		answer(w, q, b, err)
	case match(archivePath) != nil:
		m := match(archivePath)
		data, _, err := r.archive(m[1], m[2])
		answer(w, q, blob{"application/gzip", data}, err)
	case match(tagsPath) != nil:
		b, err := r.tags(match(tagsPath)[1])
		answer(w, q, b, err)
	case match(blobPath) != nil:
		b, err := r.kept(match(blobPath)[1])
		answer(w, q, b, err)
	case match(manifestPath) != nil:
		m := match(manifestPath)
		b, err := r.manifest(m[1], m[2])
		answer(w, q, b, err)
	default:
		http.NotFound(w, q)
	}
}

func answer(w http.ResponseWriter, q *http.Request, b blob, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", b.kind)
	w.Header().Set("Docker-Content-Digest", digest(b.data))
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(b.data))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// listed are the versions that lists name: those of New and the chart's own.
func (r *Repository) listed(name string) ([]string, error) {
	_, about, err := r.archive(name, "")
	if err != nil {
		return nil, err
	}
	return append([]string{fmt.Sprint(about["version"])}, r.versions...), nil
}

// index is the list of a classic repository.
func (r *Repository) index() (blob, error) {
	names, err := r.names()
	if err != nil {
		return blob{}, err
	}
	entries := map[string]any{}
	for _, name := range names {
		versions, err := r.listed(name)
		if err != nil {
			return blob{}, err
		}
		var all []any
		for _, v := range versions {
			data, about, err := r.archive(name, v)
			if err != nil {
				return blob{}, err
			}
			about["digest"], about["urls"] = strings.TrimPrefix(digest(data), "sha256:"), []string{name + "-" + v + ".tgz"}
			all = append(all, about)
		}
		entries[name] = all
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": entries})
	return blob{"application/yaml", text}, err
}

func (r *Repository) tags(repository string) (blob, error) {
	versions, err := r.listed(path.Base(repository))
	if err != nil {
		return blob{}, err
	}
	text, err := json.Marshal(map[string]any{"name": repository, "tags": versions})
	return blob{"application/json", text}, err
}

// manifest is what a tag, or a digest that an earlier manifest has had, stands for.
func (r *Repository) manifest(name, tag string) (blob, error) {
	if strings.HasPrefix(tag, "sha256:") {
		return r.kept(tag)
	}
	archive, about, err := r.archive(name, strings.ReplaceAll(tag, "_", "+"))
	if err != nil {
		return blob{}, err
	}
	config, err := json.Marshal(about)
	if err != nil {
		return blob{}, err
	}
	part := func(kind string, data []byte) map[string]any {
		r.keep(blob{kind, data})
		return map[string]any{"mediaType": kind, "digest": digest(data), "size": len(data)}
	}
	const kind = "application/vnd.oci.image.manifest.v1+json"
	text, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind,
		"config": part("application/vnd.cncf.helm.config.v1+json", config),
		"layers": []any{part("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)},
	})
	if err != nil {
		return blob{}, err
	}
	b := blob{kind, text}
	r.keep(b)
	return b, nil
}

func (r *Repository) keep(b blob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const many = 1000
	if len(r.blobs) >= many {
		clear(r.blobs)
	}
	r.blobs[digest(b.data)] = b
}

func (r *Repository) kept(digest string) (blob, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.blobs[digest]
	if !ok {
		return blob{}, fmt.Errorf("there is no %s", digest)
	}
	return b, nil
}

// archive packs a chart as that version of it, and returns what its Chart.yaml then says. Without a version it is the
// chart's own.
func (r *Repository) archive(name, version string) ([]byte, map[string]any, error) {
	about := map[string]any{}
	var wrong error
	data, err := Pack(r.charts, name, func(file string, text []byte) []byte {
		if file != chartFile {
			return text
		}
		wrong = yaml.Unmarshal(text, &about)
		if wrong == nil && version != "" {
			about["version"] = version
			text, wrong = yaml.Marshal(about)
		}
		return text
	})
	if err := errors.Join(err, wrong); err != nil {
		return nil, nil, fmt.Errorf("chart %q: %w", name, err)
	}
	return data, about, nil
}

const chartFile = "Chart.yaml"

// Pack makes an archive of a chart, its Chart.yaml first, as helm reads it. change is asked what becomes of each file.
// The same files make the same archive.
func Pack(charts fs.FS, name string, change func(file string, text []byte) []byte) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	pack := tar.NewWriter(zip)
	add := func(file string) error {
		text, err := fs.ReadFile(charts, path.Join(name, file))
		if err != nil {
			return err
		}
		text = change(file, text)
		if err := pack.WriteHeader(&tar.Header{Name: path.Join(name, file), Mode: 0o644, Size: int64(len(text)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = pack.Write(text)
		return err
	}
	if err := add(chartFile); err != nil {
		return nil, err
	}
	err := fs.WalkDir(charts, name, func(file string, d fs.DirEntry, err error) error {
		short := strings.TrimPrefix(file, name+"/")
		if err != nil || d.IsDir() || short == chartFile {
			return err
		}
		return add(short)
	})
	if err := errors.Join(err, pack.Close(), zip.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
