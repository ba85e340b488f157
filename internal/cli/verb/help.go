package verb

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// usage writes how help looks below its first paragraph.
//
// It is no template: text/template calls methods by names that are known when it
// runs, and a program in which anything does so keeps every exported method of
// every library, here twice as much code as all that is used.
func usage(c *cobra.Command) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Usage:\n  %s", c.UseLine())
	if c.HasAvailableSubCommands() && c.Use == c.Name() {
		b.WriteString(" <verb>")
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", c.Example)
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(&b, "\n\n%s", g.Title)
		list(&b, c, func(v *cobra.Command) bool {
			return v.GroupID == g.ID && (v.IsAvailableCommand() || v.Name() == "help")
		})
	}
	if c.HasAvailableSubCommands() && len(c.Groups()) == 0 {
		b.WriteString("\n\nVerbs:")
		list(&b, c, func(v *cobra.Command) bool { return v.IsAvailableCommand() && v.Name() != "help" })
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\n\nFlags:\n%s", trimmed(c.LocalFlags().FlagUsages()))
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\n\nFlags of all verbs:\n%s", trimmed(c.InheritedFlags().FlagUsages()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nMore about one: %s <verb> --help", c.CommandPath())
	}
	b.WriteString("\n")
	_, err := c.OutOrStderr().Write(b.Bytes())
	return err
}

// list writes a line for each verb of c that is to be shown.
func list(b *bytes.Buffer, c *cobra.Command, shown func(*cobra.Command) bool) {
	for _, v := range c.Commands() {
		if shown(v) {
			fmt.Fprintf(b, "\n  %-*s %s", v.NamePadding(), v.Name(), v.Short)
		}
	}
}

func trimmed(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
