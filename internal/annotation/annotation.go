// Package annotation writes and reads what claims and nodes keep, as text, of the decisions they come from.
//
// A process that begins again counts on the same as the one before, because
// objects say what they are for. What cannot be read says nothing.
package annotation

import (
	"encoding/json"
	"strings"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
)

// On claims.
const (
	Template = v1.Group + "/template" // whose catalogue its menu is from
	Booked   = v1.Group + "/booked"   // capacity of the planned type, as BookedText writes it
	Pods     = v1.Group + "/pods"     // that it was asked for, as PodsText writes them
	Replaces = v1.Group + "/replaces" // claims whose machines go once it is complete, as NamesText writes them
	// Adopts is the provider ID of a machine that was there before its claim. Such a claim is never launched.
	Adopts = v1.Group + "/adopts"
)

// Level is on pools: how much has to be saved for a pod of theirs to be moved.
const Level = v1.Group + "/consolidation-level"

// Moves is on nodes that are to go: where their pods are to go, as MovesText writes it.
const Moves = v1.Group + "/moves"

// BookedText writes amounts.
func BookedText(l amount.List) string {
	text, err := json.Marshal(l.Map())
	if err != nil {
		return ""
	}
	return string(text)
}

// BookedOf reads what BookedText writes.
func BookedOf(text string) amount.List {
	var m map[string]string
	if text == "" || json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	l, err := amount.ParseMap(m)
	if err != nil {
		return nil
	}
	return l.Floor()
}

// NamesText writes names of objects.
func NamesText(names []string) string { return strings.Join(names, " ") }

// NamesOf reads what NamesText writes.
func NamesOf(text string) []string { return strings.Fields(text) }

// DriversText writes drivers of dynamic resources as Karpenter does.
func DriversText(drivers []string) string { return strings.Join(drivers, ",") }

// DriversOf reads what DriversText writes.
func DriversOf(text string) []string {
	var out []string
	for d := range strings.SplitSeq(text, ",") {
		if d = strings.TrimSpace(d); d != "" {
			out = append(out, d)
		}
	}
	return out
}

// PodsText writes pods.
func PodsText(pods []world.Key) string { return joined(pods, " ") }

// PodsOf reads what PodsText writes.
func PodsOf(text string) []world.Key { return keys(strings.Fields(text)) }

// MovesText writes where pods are to go: each node with its pods, such as "n1=shop/web-1,shop/web-2 n2=shop/db".
func MovesText(moves []world.Move) string {
	parts := make([]string, len(moves))
	for i, m := range moves {
		parts[i] = m.To + "=" + joined(m.Pods, ",")
	}
	return strings.Join(parts, " ")
}

// MovesOf reads what MovesText writes.
func MovesOf(text string) []world.Move {
	var out []world.Move
	for part := range strings.FieldsSeq(text) {
		to, pods, ok := strings.Cut(part, "=")
		if m := (world.Move{To: to, Pods: keys(strings.Split(pods, ","))}); ok && to != "" && len(m.Pods) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func joined(pods []world.Key, by string) string {
	names := make([]string, len(pods))
	for i, k := range pods {
		names[i] = k.String()
	}
	return strings.Join(names, by)
}

// keys are the names among them that name pods.
func keys(names []string) []world.Key {
	var out []world.Key
	for _, name := range names {
		if namespace, name, ok := strings.Cut(name, "/"); ok {
			out = append(out, world.Key{Namespace: namespace, Name: name})
		}
	}
	return out
}
