package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// A bill is what a program is made of, as CycloneDX writes it.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct{ Name, Value string }

// MarshalJSON writes it with the names that the format has.
func (p property) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"name": p.Name, "value": p.Value})
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// bill reads from a program itself what it was made of.
func (r release) bill(program []byte) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	whole := component{
		Type: "application", Name: "tenon", Version: r.Version, Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum)}},
		PURL: purl(info.Main.Path, r.Version),
	}
	whole.Ref = whole.PURL
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath"}, s.Key) {
			whole.Properties = append(whole.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{r.Date.Format(time.RFC3339), whole},
		Serial: fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
	}
	needs := dependency{Ref: whole.Ref}
	modules := append(info.Deps, &debug.Module{Path: "std", Version: info.GoVersion})
	slices.SortFunc(modules, func(x, y *debug.Module) int { return cmp.Compare(x.Path, y.Path) })
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version)}
		c.Ref = c.PURL
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.Components = append(b.Components, c)
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	b.Dependencies = append([]dependency{needs}, b.Dependencies...)
	return json.MarshalIndent(b, "", "  ")
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }
