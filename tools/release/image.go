package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What containers of the image are like. The Dockerfile says the same.
const (
	user       = "65532:65532"
	entrypoint = "/" + program
	path       = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

func labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "tenon",
		"org.opencontainers.image.source":   "https://github.com/tenon-sh/tenon",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// Kinds of blobs.
const (
	kindIndex    = "application/vnd.oci.image.index.v1+json"
	kindManifest = "application/vnd.oci.image.manifest.v1+json"
	kindConfig   = "application/vnd.oci.image.config.v1+json"
	kindLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        *descriptor       `json:"config,omitempty"`
	Layers        []descriptor      `json:"layers,omitempty"`
	Manifests     []descriptor      `json:"manifests,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type config struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User       string            `json:"User"`
		Env        []string          `json:"Env"`
		Entrypoint []string          `json:"Entrypoint"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created time.Time `json:"created"`
	By      string    `json:"created_by"`
}

// An image is one for several architectures, in the layout that registries and their tools read.
type image struct {
	release
	blobs     map[string][]byte // by their digest
	manifests []descriptor
}

// add puts in the image for an architecture: the files that all have in one layer, the program in another.
func (i *image) add(arch string, data []byte) error {
	var c config
	c.Created, c.platform = i.Date, platform{Architecture: arch, OS: "linux"}
	c.Config.User, c.Config.Env, c.Config.Entrypoint, c.Config.WorkingDir = user, []string{path}, []string{entrypoint}, "/"
	c.Config.Labels, c.RootFS.Type = i.labels(), "layers"
	m := manifest{SchemaVersion: 2, MediaType: kindManifest, Annotations: i.labels()}
	for _, layer := range []struct {
		by    string
		files []file
	}{{"certificates and users", files()}, {"tenon", executable(data)}} {
		plain, packed, err := i.pack(layer.files)
		if err != nil {
			return err
		}
		m.Layers = append(m.Layers, i.keep(kindLayer, packed))
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, digest(plain))
		c.History = append(c.History, history{i.Date, layer.by})
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	about := i.keep(kindConfig, text)
	m.Config = &about
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	d := i.keep(kindManifest, text)
	d.Platform = &c.platform
	i.manifests = append(i.manifests, d)
	return nil
}

// labels say which release an image is of.
func (i *image) labels() map[string]string {
	all := labels()
	all["org.opencontainers.image.version"], all["org.opencontainers.image.revision"] = i.Version, i.Commit
	return all
}

// pack makes a layer of files, all of which are of the commit's date and root's.
func (i *image) pack(files []file) (plain, packed []byte, err error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: i.Date, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if f.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	var zip bytes.Buffer
	z := gzip.NewWriter(&zip)
	if _, err := z.Write(out.Bytes()); err != nil {
		return nil, nil, err
	}
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), zip.Bytes(), nil
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

func (i *image) keep(kind string, data []byte) descriptor {
	if i.blobs == nil {
		i.blobs = map[string][]byte{}
	}
	d := descriptor{MediaType: kind, Digest: digest(data), Size: len(data)}
	i.blobs[d.Digest] = data
	return d
}

// write writes the image to a directory and returns its digest.
func (i *image) write(dir string) (string, error) {
	all, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: kindIndex, Manifests: i.manifests, Annotations: i.labels()})
	if err != nil {
		return "", err
	}
	whole := i.keep(kindIndex, all)
	whole.Annotations = map[string]string{"org.opencontainers.image.ref.name": i.Version}
	index, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: kindIndex, Manifests: []descriptor{whole}})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return "", err
	}
	out := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`), "index.json": index}
	for d, data := range i.blobs {
		out[filepath.Join("blobs", strings.Replace(d, ":", "/", 1))] = data
	}
	for name, data := range out {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return "", err
		}
	}
	return whole.Digest, nil
}
