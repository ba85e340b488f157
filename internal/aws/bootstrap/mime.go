package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Content types that the first boot of a machine tells apart.
const (
	shellType   = `text/x-shellscript; charset="us-ascii"`
	cloudType   = `text/cloud-config; charset="us-ascii"`
	nodeadmType = "application/node.eks.aws"
)

const boundary = "//"

// part is one part of user data.
type part struct {
	contentType string
	header      textproto.MIMEHeader // of the user's own part, kept as it is
	body        string
}

// archive writes parts as one MIME message.
func archive(parts []part) (string, error) {
	var out bytes.Buffer
	out.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n")
	w := multipart.NewWriter(&out)
	if err := w.SetBoundary(boundary); err != nil {
		return "", err
	}
	for _, p := range parts {
		if strings.HasPrefix(p.body, "--"+boundary) || strings.Contains(p.body, "\n--"+boundary) {
			return "", fmt.Errorf("user data: no line may begin with %q, which separates its parts", "--"+boundary)
		}
		header := p.header
		if header == nil {
			header = textproto.MIMEHeader{"Content-Type": {p.contentType}}
		}
		to, err := w.CreatePart(header)
		if err != nil {
			return "", err
		}
		if _, err := io.WriteString(to, p.body); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}

// ownParts reads what the user wrote: the parts of a MIME message, or one part
// whose type follows from what it looks like.
func ownParts(own, scriptType string) ([]part, error) {
	if strings.TrimSpace(own) == "" {
		return nil, nil
	}
	if !isMIME(own) {
		return []part{{contentType: guess(own, scriptType), body: own}}, nil
	}
	message, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(own, " \t\r\n")))
	if err != nil {
		return nil, fmt.Errorf("user data looks like a MIME message and cannot be read as one: %s", strings.Trim(strconv.Quote(err.Error()), `"`)) // it repeats lines of the user's
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("user data: Content-Type %q of the MIME message: %w", message.Header.Get("Content-Type"), err)
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return nil, fmt.Errorf("user data: a MIME message must be multipart/mixed with a boundary, is %q", kind)
	}
	return readParts(multipart.NewReader(message.Body, params["boundary"]))
}

func readParts(r *multipart.Reader) ([]part, error) {
	var parts []part
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("user data: part %d of the MIME message: %w", len(parts)+1, err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("user data: part %d of the MIME message: %w", len(parts)+1, err)
		}
		parts = append(parts, part{header: p.Header, body: string(body)})
	}
}

func isMIME(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(s, "mime-version:") || strings.HasPrefix(s, "content-type:")
}

// guess is the content type of plain text: a node's configuration, cloud-init's
// own format, or a script.
func guess(s, scriptType string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "#cloud-config") {
		return cloudType
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal([]byte(s), &head); err == nil && strings.HasPrefix(head.APIVersion, "node.eks.aws/") && head.Kind == "NodeConfig" {
		return nodeadmType
	}
	return scriptType
}
