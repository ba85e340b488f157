// Package verb is what every command of tenon shares: the -o flag and the
// errors that choose an exit status.
//
// A verb has a folder beside this one and exports one function,
//
//	func Command() *cobra.Command
//
// which internal/cli adds to the tree. It reads and writes through the command
// (InOrStdin, OutOrStdout, ErrOrStderr), returns its error instead of printing
// it, and never ends the process.
package verb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The statuses tenon exits with.
const (
	OK       = 0 // what was asked was done
	Failed   = 1 // it could not be done
	Unusable = 2 // what was given cannot be used: a flag, an argument, a file
)

// unusable marks an error as the fault of what was given.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// BadInput says that err is the fault of what the user gave, so that tenon
// exits with status 2. It returns nil for nil.
func BadInput(err error) error {
	if err == nil {
		return nil
	}
	return unusable{err}
}

// BadInputf is BadInput of a formatted error.
func BadInputf(format string, args ...any) error {
	return unusable{fmt.Errorf(format, args...)}
}

// Status is the exit status that err asks for.
func Status(err error) int {
	if err == nil {
		return OK
	}
	if _, bad := errors.AsType[unusable](err); bad {
		return Unusable
	}
	return Failed
}

// NoArgs is for the Args of a verb that takes flags only.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().ShorthandLookup("f") != nil {
		return fmt.Errorf("%s takes no argument and got %q: files are named with -f", cmd.Name(), args[0])
	}
	return fmt.Errorf("%s takes no argument and got %q", cmd.Name(), args[0])
}

// Format is how a verb prints its answer. It is a flag whose values are listed
// in its help and completed by the shell.
type Format struct {
	value   string
	allowed []string
}

// The formats every verb that answers with data has; a verb may add others.
const (
	Text = "text" // for people; may change between releases
	JSON = "json" // for programs; fields are only ever added
)

// FormatFlag adds -o to cmd with the formats given; the first is the default.
func FormatFlag(cmd *cobra.Command, formats ...string) *Format {
	f := &Format{value: formats[0], allowed: formats}
	cmd.Flags().VarP(f, "output", "o", "how to print the answer: "+strings.Join(formats, ", "))
	// An error here means that the flag does not exist, which the line above rules out.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return f
}

// Is reports whether the user chose format.
func (f *Format) Is(format string) bool { return f.value == format }

// String is the format chosen.
func (f *Format) String() string { return f.value }

// Set chooses a format; pflag calls it.
func (f *Format) Set(s string) error {
	if !slices.Contains(f.allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(f.allowed, ", "))
	}
	f.value = s
	return nil
}

// Type is the name of the value in help.
func (f *Format) Type() string { return "FORMAT" }

// WriteJSON writes v as indented JSON with a line end.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
