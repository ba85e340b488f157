// Package kubelet reads the kubelet settings of a class or a pool: what they take from a node, and what its boot is given.
package kubelet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenon-sh/tenon/engine/amount"
)

// Config is kubelet settings. A nil pointer or map is a setting that is not made.
type Config struct {
	MaxPods     *int64
	PodsPerCore *int64

	KubeReserved   map[string]string
	SystemReserved map[string]string

	EvictionHard     map[string]string
	EvictionSoft     map[string]string
	EvictionGrace    map[string]string // of EvictionSoft, by the same keys
	EvictionMaxGrace *int64            // seconds

	ImageGCHigh *int64 // per cent of the disk
	ImageGCLow  *int64
	CPUCFSQuota *bool
	ClusterDNS  []string

	Expressions Expressions `json:",omitzero"` // of the first four, where they are no numbers

	All map[string]any // everything as it was written
}

// Expressions are settings in CEL, whose values depend on the type of the machine.
type Expressions struct {
	MaxPods        string            `json:",omitempty"`
	KubeReserved   map[string]string `json:",omitempty"`
	SystemReserved map[string]string `json:",omitempty"`
}

// Machine is what expressions know of a type.
type Machine struct {
	Type        string
	VCPUs       int64
	MemoryMiB   int64
	DefaultENIs int64 // of the network card that pods use
	IPsPerENI   int64 // of version 4
}

// Any reports whether there is one.
func (e Expressions) Any() bool {
	return e.MaxPods != "" || len(e.KubeReserved)+len(e.SystemReserved) > 0
}

// IsZero reports whether there is none.
func (e Expressions) IsZero() bool { return !e.Any() }

// Parse reads settings as JSON; none is the zero Config. It refuses what is of
// the wrong kind and says which field. A maxPods or a reserved amount that is
// no number is an expression, and stands apart.
func Parse(raw []byte) (Config, error) {
	var c Config
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return c, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&c.All); err != nil {
		return Config{}, fmt.Errorf("kubelet settings: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Config{}, fmt.Errorf("kubelet settings: more than one JSON object")
	}
	p := parser{all: c.All}
	c.MaxPods = p.maxPods()
	c.PodsPerCore = p.integer("podsPerCore")
	if c.MaxPods == nil {
		c.Expressions.MaxPods = p.expression("maxPods", p.all["maxPods"])
	}
	c.KubeReserved, c.Expressions.KubeReserved = p.amounts("kubeReserved")
	c.SystemReserved, c.Expressions.SystemReserved = p.amounts("systemReserved")
	c.EvictionHard = p.texts("evictionHard")
	c.EvictionSoft = p.texts("evictionSoft")
	c.EvictionGrace = p.texts("evictionSoftGracePeriod")
	c.EvictionMaxGrace = p.integer("evictionMaxPodGracePeriod")
	c.ImageGCHigh = p.integer("imageGCHighThresholdPercent")
	c.ImageGCLow = p.integer("imageGCLowThresholdPercent")
	c.CPUCFSQuota = p.flag("cpuCFSQuota")
	c.ClusterDNS = p.list("clusterDNS")
	if len(p.faults) > 0 {
		return Config{}, fmt.Errorf("kubelet settings: %s", strings.Join(p.faults, "; "))
	}
	return c, nil
}

// parser takes typed values out of decoded JSON and collects what is wrong.
type parser struct {
	all    map[string]any
	faults []string
}

func (p *parser) fault(key, want string, got any) {
	p.faults = append(p.faults, fmt.Sprintf("%s must be %s, is %s", printable(key), want, printable(fmt.Sprint(got))))
}

// printable quotes what conditions and logs could not show as it is.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

func (p *parser) integer(key string) *int64 {
	v, ok := p.all[key]
	if !ok || v == nil {
		return nil
	}
	number, ok := v.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 32)
	if !ok || err != nil || n < 0 {
		p.fault(key, "a whole number from 0", v)
		return nil
	}
	return &n
}

// maxPods is a number, or a text that holds one; any other text is an expression.
func (p *parser) maxPods() *int64 {
	const key = "maxPods"
	s, ok := p.all[key].(string)
	if !ok {
		return p.integer(key)
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return nil // what begins with a minus is refused as an expression
	}
	return &n
}

func (p *parser) flag(key string) *bool {
	v, ok := p.all[key]
	if !ok || v == nil {
		return nil
	}
	b, ok := v.(bool)
	if !ok {
		p.fault(key, "true or false", v)
		return nil
	}
	return &b
}

func (p *parser) list(key string) []string {
	v, ok := p.all[key]
	if !ok || v == nil {
		return nil
	}
	items, ok := v.([]any)
	var out []string
	for _, i := range items {
		s, isText := i.(string)
		ok = ok && isText
		out = append(out, s)
	}
	if !ok {
		p.fault(key, "a list of texts", v)
		return nil
	}
	return out
}

// texts reads a map whose values are texts or numbers.
func (p *parser) texts(key string) map[string]string {
	v, ok := p.all[key]
	if !ok || v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		p.fault(key, "a map", v)
		return nil
	}
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch v := m[k].(type) {
		case string:
			out[k] = v
		case json.Number:
			out[k] = v.String()
		default:
			p.fault(key+"."+k, "a text or a number", v)
		}
	}
	return out
}

// amounts reads a map of quantities, and of expressions.
func (p *parser) amounts(key string) (quantities, expressions map[string]string) {
	texts := p.texts(key)
	if texts == nil {
		return nil, nil
	}
	quantities = make(map[string]string, len(texts))
	for k, v := range texts {
		if _, err := amount.Parse(v); err == nil {
			quantities[k] = v
			continue
		}
		if expressions == nil {
			expressions = map[string]string{}
		}
		expressions[k] = p.expression(key+"."+k, v)
	}
	return quantities, expressions
}

// expression is a text that is one; empty if it is none, or begins as a number below zero does.
func (p *parser) expression(key string, v any) string {
	text, ok := v.(string)
	if ok && strings.HasPrefix(strings.TrimSpace(text), "-") {
		p.fault(key, "at least 0, or an expression that does not begin with a minus", v)
	}
	return text
}
