package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Understood says how the controller of this release would take the flags and
// the environment of another: what it would not follow, and, as an error, what it
// would refuse to start with.
func Understood(ctx context.Context, args []string, getenv func(string) string) (notFollowed []string, refused error) {
	o := options{Settings: app.Defaults(), getenv: getenv}
	cmd := o.command(getenv)
	cmd.RunE = func(*cobra.Command, []string) error {
		_, err := app.ParseLevel(o.logLevel)
		refused = errors.Join(err, o.check())
		return nil
	}
	var errs bytes.Buffer
	if verb.Run(ctx, cmd, args, verb.Streams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, Err: &errs}) != verb.OK {
		return nil, errors.New(strings.TrimSpace(errs.String()))
	}
	for _, n := range append(o.notes, passedOver(cmd)...) {
		notFollowed = append(notFollowed, n.String())
	}
	return notFollowed, refused
}

// String is the note as one line, with its fields.
func (n note) String() string {
	text := n.text
	for i := 0; i+1 < len(n.fields); i += 2 {
		text += fmt.Sprintf(", %v: %v", n.fields[i], n.fields[i+1])
	}
	return text
}
