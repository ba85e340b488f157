package suppose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Texts are what is supposed as people write it: the flags of commands, the parameters of pages.
type Texts struct {
	Scale   []string // deployment/NAMESPACE/NAME=N
	SoldOut []string // TYPE[,ZONE[,CAPACITY-TYPE]]
	Price   []string // TYPE[,ZONE[,CAPACITY-TYPE]]=PRICE
	Without []string // node/NAME, nodeclaim/NAME, nodepool/NAME, provisioner/NAME
}

// Any reports whether anything is supposed.
func (t Texts) Any() bool { return len(t.Scale)+len(t.SoldOut)+len(t.Price)+len(t.Without) > 0 }

// Read reads texts as changes, in the order in which they make sense together.
// An error names what cannot be read as its reader calls the kind: called is
// given scale, sold-out, price or without.
func Read(t Texts, called func(kind string) string) ([]Change, error) {
	var out []Change
	for _, kind := range []struct {
		name  string
		texts []string
		read  func(string) (Change, error)
	}{
		{"scale", t.Scale, readScale}, {"sold-out", t.SoldOut, readSoldOut}, {"price", t.Price, readPrice}, {"without", t.Without, readWithout},
	} {
		for _, text := range kind.texts {
			change, err := kind.read(text)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", called(kind.name), text, err)
			}
			out = append(out, change)
		}
	}
	return out, nil
}

func readWithout(text string) (Change, error) {
	kind, name, _ := strings.Cut(text, "/")
	switch strings.ToLower(kind) {
	case "node", "nodeclaim":
		return WithoutNode(name), nil
	case "nodepool":
		return WithoutPool(world.PoolID{Kind: world.NodePool, Name: name}), nil
	case "provisioner":
		return WithoutPool(world.PoolID{Kind: world.Provisioner, Name: name}), nil
	}
	return nil, fmt.Errorf("want node/NAME, nodeclaim/NAME, nodepool/NAME or provisioner/NAME")
}

func readScale(text string) (Change, error) {
	what, number, _ := strings.Cut(text, "=")
	parts := strings.Split(what, "/")
	if len(parts) == 2 {
		parts = []string{parts[0], "default", parts[1]}
	}
	n, err := strconv.Atoi(number)
	if len(parts) != 3 || err != nil || n < 0 || n > 1_000_000 {
		return nil, fmt.Errorf("want deployment/NAMESPACE/NAME=N, or deployment/NAME=N for the namespace default, with N from 0 to 1000000")
	}
	kind, known := scaled()[strings.ToLower(parts[0])]
	if !known {
		return nil, fmt.Errorf("a %q cannot be scaled here: want a deployment (deploy), statefulset (sts) or replicaset (rs)", parts[0])
	}
	return Scale(Workload{Kind: kind, Namespace: parts[1], Name: parts[2]}, n), nil
}

// scaled are the kinds that can be scaled, by every name that kubectl has for them.
func scaled() map[string]string {
	out := map[string]string{}
	for kind, short := range map[string]string{"deployment": "deploy", "statefulset": "sts", "replicaset": "rs"} {
		for _, name := range []string{kind, kind + "s", kind + ".apps", kind + "s.apps", short} {
			out[name] = kind
		}
	}
	return out
}

func readSoldOut(text string) (Change, error) {
	o, err := readOffers(text)
	return SoldOut(o), err
}

func readPrice(text string) (Change, error) {
	what, number, _ := strings.Cut(text, "=")
	price, ok := money.Parse(number)
	if !ok {
		return nil, fmt.Errorf("want TYPE[,ZONE[,CAPACITY-TYPE]]=PRICE with a price from 0 to 1,000,000 an hour")
	}
	o, err := readOffers(what)
	return Price(o, price), err
}

func readOffers(text string) (Offers, error) {
	parts := strings.Split(text, ",")
	if len(parts) > 3 || parts[0] == "" {
		return Offers{}, fmt.Errorf("want TYPE[,ZONE[,CAPACITY-TYPE]]")
	}
	parts = append(parts, "", "")
	return Offers{Shape: parts[0], Zone: parts[1], CapacityType: parts[2]}, nil
}
