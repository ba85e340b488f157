package reason

import (
	"cmp"
	"slices"
)

// Objections are the codes of what is behind w and has nothing behind it itself, the heaviest first.
func Objections(w *Why) []Code {
	if w == nil {
		return nil
	}
	if len(w.Causes) == 0 || w.Code == Label { // what is behind a label are the terms of one demand
		return []Code{w.Code}
	}
	var out []Code
	for _, c := range w.Causes {
		out = append(out, Objections(c)...)
	}
	slices.SortFunc(out, func(a, b Code) int { return cmp.Compare(weight(b), weight(a)) })
	return out
}

// Nearer compares what two pools or nodes have against a pod: it is negative if
// the first is nearer to taking it. Fewer objections are nearer, then milder ones.
func Nearer(a, b []Code) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, func(x, y Code) int { return cmp.Compare(weight(x), weight(y)) }))
}

// weight is how far an objection keeps a pod away: what passes by itself or is
// raised in the pool least, what says that the pool is meant for other pods most.
func weight(c Code) int {
	switch c {
	case NotReady, NoOffer, Limit, Reservation, MinValues:
		return 1
	case Spread, Affinity, AntiAffinity, Volume, VolumeLimit, Port:
		return 2
	case Resource, NoShape:
		return 3
	case Label:
		return 4
	}
	return 5
}
