package oracle

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os/exec"

	"github.com/tenon-sh/tenon/internal/kube"
)

// Conversation is kube-scheduler's own plugins, asked one question after the other.
type Conversation struct {
	program *exec.Cmd
	pipe    io.WriteCloser
	rest    io.Reader
	in      *gob.Encoder
	out     *gob.Decoder
}

// Converse starts the program that holds them; its complaints go to log.
func Converse(ctx context.Context, log io.Writer) (*Conversation, error) {
	program, err := kube.Find()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "oracle")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Conversation{cmd, in, out, gob.NewEncoder(in), gob.NewDecoder(out)}, nil
}

// End ends the program.
func (c *Conversation) End() {
	_ = c.pipe.Close()
	_, _ = io.Copy(io.Discard, c.rest)
	_ = c.program.Wait() // it tells of wrong plans, which the caller has seen
}

// Ask waits for the verdict on a question.
func (c *Conversation) Ask(q Question) (Verdict, error) {
	var v Verdict
	w, err := q.write()
	if err != nil {
		return v, err
	}
	if err := c.in.Encode(w); err != nil {
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
