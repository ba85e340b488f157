package pack

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Options are what a caller may choose. The zero value works.
type Options = packing.Options

// Policy is how preferences, or least numbers of values, are treated.
type Policy = packing.Policy

// Policies. The zero value is the first of each pair.
const (
	Respect    = packing.Respect
	Ignore     = packing.Ignore
	Strict     = packing.Strict
	BestEffort = packing.BestEffort
)
