// Package version is the verb that says which tenon this is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Build says which tenon this is.
type Build struct {
	Version  string `json:"version"`          // of the release, or "dev"
	Commit   string `json:"commit,omitempty"` // of the source, when known
	Modified bool   `json:"modified"`         // the source differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Of makes a Build from what the linker was given and what the go command
// recorded; the linker wins. Either may know nothing.
func Of(version, commit string, info *debug.BuildInfo) Build {
	b := Build{
		Version:  version,
		Commit:   commit,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	if v := info.Main.Version; b.Version == "" && v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

// String is one line for people.
func (b Build) String() string {
	commit := b.Commit
	if commit == "" {
		commit = "unknown commit"
	}
	if b.Modified {
		commit += ", modified"
	}
	return fmt.Sprintf("tenon %s (%s) %s %s", b.Version, commit, b.Go, b.Platform)
}

// Command is the verb.
func Command(b Build) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which tenon this is",
		Args:  verb.NoArgs,
	}
	format := verb.FormatFlag(cmd, verb.Text, verb.JSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if format.Is(verb.JSON) {
			return verb.WriteJSON(cmd.OutOrStdout(), b)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), b)
		return err
	}
	return cmd
}
