package controller

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// flags declares flags whose defaults the environment may change. What the
// environment says and cannot be read is as if it said nothing, but for a note.
type flags struct {
	cmd    *cobra.Command
	getenv func(string) string
	notes  *[]note
}

// read is what the environment says of a setting, or what it is without.
func read[T any](f flags, or T, env string, parse func(string) (T, error)) T {
	said := f.getenv(env)
	if said == "" {
		return or
	}
	v, err := parse(said)
	if err != nil {
		*f.notes = append(*f.notes, note{"an environment variable cannot be read, its default is used", []any{"variable", env, "value", said, "default", or}})
		return or
	}
	return v
}

func (f flags) help(usage, env string) string { return usage + " [" + env + "]" }

func (f flags) text(to *string, name, env, usage string) { f.textOr(to, *to, name, env, usage) }

func (f flags) textOr(to *string, or, name, env, usage string) {
	if said := f.getenv(env); said != "" {
		or = said
	}
	f.cmd.Flags().StringVar(to, name, or, f.help(usage, env))
}

func (f flags) number(to *int, name, env, usage string) {
	f.cmd.Flags().IntVar(to, name, read(f, *to, env, strconv.Atoi), f.help(usage, env))
}

func (f flags) size(to *int64, name, env, usage string) {
	or := read(f, *to, env, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	f.cmd.Flags().Int64Var(to, name, or, f.help(usage, env))
}

func (f flags) rate(to *float32, name, env, usage string) {
	or := read(f, *to, env, func(s string) (float32, error) {
		n, err := strconv.ParseFloat(s, 32)
		return float32(n), err
	})
	f.cmd.Flags().Float32Var(to, name, or, f.help(usage, env))
}

func (f flags) share(to *float64, name, env, usage string) {
	or := read(f, *to, env, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	f.cmd.Flags().Float64Var(to, name, or, f.help(usage, env))
}

func (f flags) flag(to *bool, name, env, usage string) {
	f.cmd.Flags().BoolVar(to, name, read(f, *to, env, strconv.ParseBool), f.help(usage, env))
}

func (f flags) span(to *time.Duration, name, env, usage string) {
	f.cmd.Flags().DurationVar(to, name, read(f, *to, env, time.ParseDuration), f.help(usage, env))
}
