package oracle

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/tenon-sh/tenon/internal/kube"
)

// conversation is the oracle, asked one question after the other.
type conversation struct {
	in  *json.Encoder
	out *json.Decoder
}

// converse starts the oracle; it ends with the test.
func converse(t *testing.T) *conversation {
	t.Helper()
	program, err := kube.Find()
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "oracle")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it tells of wrong plans, which the test has seen
	})
	return &conversation{json.NewEncoder(in), json.NewDecoder(out)}
}

// ask waits for the oracle's verdict on a question.
func (c *conversation) ask(q question) (verdict, error) {
	var v verdict
	if err := c.in.Encode(q); err != nil {
		return v, err
	}
	if err := c.out.Decode(&v); err != nil {
		return v, err
	}
	if v.Error != "" {
		return v, errors.New(v.Error)
	}
	return v, nil
}
