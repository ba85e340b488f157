package kubelet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"

	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Parse reads user data as the image of a machine would: shell scripts that call EKS' bootstrap script, node
// configurations, both also as parts of a MIME document, the settings of Bottlerocket, and PowerShell.
func Parse(userData []byte) (Settings, error) {
	s, joined := Settings{}, false
	text := bytes.TrimSpace(userData)
	var err error
	switch {
	case len(text) == 0:
	case bytes.HasPrefix(bytes.ToLower(text), []byte("mime-version:")) || bytes.HasPrefix(bytes.ToLower(text), []byte("content-type:")):
		joined, err = s.mime(text)
	default:
		joined, err = s.part(text, "")
	}
	if err != nil {
		return Settings{}, fmt.Errorf("user data: %w", err)
	}
	if !joined {
		return Settings{}, ErrNoJoin
	}
	return s, s.check()
}

// mime runs the parts of a document in their order.
func (s *Settings) mime(text []byte) (joined bool, err error) {
	m, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return false, err
	}
	if !strings.HasPrefix(kind, "multipart/") {
		body, err := io.ReadAll(m.Body)
		if err != nil {
			return false, err
		}
		return s.part(body, kind)
	}
	for parts := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return joined, nil
		}
		if err != nil {
			return false, err
		}
		var body io.Reader = p
		if strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "base64") {
			body = base64.NewDecoder(base64.StdEncoding, p)
		}
		data, err := io.ReadAll(body)
		if err != nil {
			return false, err
		}
		kind, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			return false, err
		}
		j, err := s.part(bytes.TrimSpace(data), kind)
		if err != nil {
			return false, err
		}
		joined = joined || j
	}
}

// part runs one piece of user data. Without a kind it is known from its first words.
func (s *Settings) part(data []byte, kind string) (joined bool, err error) {
	text := string(data)
	switch {
	case kind == "application/node.eks.aws" || kind == "" && strings.Contains(text, "apiVersion: node.eks.aws/"):
		return s.nodeConfig(data)
	case strings.HasPrefix(kind, "text/x-shellscript") || strings.HasPrefix(text, "#!"):
		return s.script(text)
	case strings.Contains(text, "<powershell>"):
		return s.powershell(text)
	case kind == "":
		return s.bottlerocket(data)
	}
	return false, nil // for others than the kubelet
}

// script finds the call of the bootstrap script. The last one counts.
func (s *Settings) script(text string) (joined bool, err error) {
	for _, words := range commands(text) {
		at := -1
		for i, w := range words {
			if strings.HasSuffix(w, "/bootstrap.sh") {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		args := words[at+1:]
		if len(args) > 0 && !strings.HasPrefix(args[0], "--") {
			s.Cluster = args[0]
		}
		for name, value := range options(args) {
			switch name {
			case "apiserver-endpoint":
				s.Endpoint = value
			case "kubelet-extra-args":
				if err := s.flags(split(value)); err != nil {
					return false, err
				}
			}
		}
		joined = true
	}
	return joined, nil
}

// powershell finds the call of the bootstrap script of Windows images.
func (s *Settings) powershell(text string) (joined bool, err error) {
	for _, words := range commands(text) {
		for i := 0; i+1 < len(words); i++ {
			switch strings.ToLower(words[i]) {
			case "-eksclustername":
				s.Cluster, joined = words[i+1], true
			case "-apiserverendpoint":
				s.Endpoint = words[i+1]
			case "-kubeletextraargs":
				if err := s.flags(split(words[i+1])); err != nil {
					return false, err
				}
			}
		}
	}
	return joined, nil
}

// nodeConfig reads a NodeConfig of nodeadm. A later one adds to those before.
func (s *Settings) nodeConfig(data []byte) (joined bool, err error) {
	var c struct {
		Spec struct {
			Cluster struct{ Name, APIServerEndpoint string }
			Kubelet struct {
				Flags  []string
				Config struct {
					MaxPods                                    int
					PodsPerCore                                int
					RegisterWithTaints                         []corev1.Taint
					KubeReserved, SystemReserved, EvictionHard map[string]string
				}
			}
		}
	}
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		if err := yaml.Unmarshal(document, &c); err != nil {
			return false, fmt.Errorf("node configuration: %w", err)
		}
	}
	if name := c.Spec.Cluster.Name; name != "" {
		s.Cluster, s.Endpoint, joined = name, c.Spec.Cluster.APIServerEndpoint, true
	}
	k := c.Spec.Kubelet.Config
	if k.MaxPods != 0 {
		s.MaxPods = k.MaxPods
	}
	if k.PodsPerCore != 0 {
		s.PodsPerCore = k.PodsPerCore
	}
	if k.KubeReserved != nil {
		s.KubeReserved = k.KubeReserved
	}
	if k.SystemReserved != nil {
		s.SystemReserved = k.SystemReserved
	}
	if k.EvictionHard != nil {
		s.EvictionHard = k.EvictionHard
	}
	for _, t := range k.RegisterWithTaints {
		if err := effect(t); err != nil {
			return false, fmt.Errorf("node configuration: %w", err)
		}
	}
	s.Taints = append(s.Taints, k.RegisterWithTaints...)
	return joined, s.flags(c.Spec.Kubelet.Flags)
}

// bottlerocket reads the settings of that operating system.
func (s *Settings) bottlerocket(data []byte) (joined bool, err error) {
	var c struct {
		Settings struct {
			Kubernetes struct {
				Cluster  string              `toml:"cluster-name"`
				Endpoint string              `toml:"api-server"`
				MaxPods  int                 `toml:"max-pods"`
				Labels   map[string]string   `toml:"node-labels"`
				Taints   map[string][]string `toml:"node-taints"`
				Kube     map[string]string   `toml:"kube-reserved"`
				System   map[string]string   `toml:"system-reserved"`
				Eviction map[string]string   `toml:"eviction-hard"`
			} `toml:"kubernetes"`
		} `toml:"settings"`
	}
	if err := toml.Unmarshal(data, &c); err != nil {
		return false, fmt.Errorf("it is no script, no node configuration and no settings: %w", err)
	}
	k := c.Settings.Kubernetes
	*s = Settings{
		Cluster: k.Cluster, Endpoint: k.Endpoint, MaxPods: k.MaxPods, Labels: k.Labels,
		KubeReserved: k.Kube, SystemReserved: k.System, EvictionHard: k.Eviction, DensityReserve: true,
	}
	for _, key := range sorted(k.Taints) {
		for _, v := range k.Taints[key] {
			if err := s.taints(key + "=" + v); err != nil {
				return false, err
			}
		}
	}
	return k.Cluster != "", nil
}
