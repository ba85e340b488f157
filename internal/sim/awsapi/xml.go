package awsapi

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strconv"
	"time"
)

// node is an element of an answer. Elements that hold no text, neither themselves nor in a child, are left out:
// a client that finds one empty takes it for something that was said.
type node struct {
	name string
	text string
	kids []node
	keep bool // written even when empty
}

func el(name string, kids ...node) node { return node{name: name, kids: kids} }

func txt(name, text string) node { return node{name: name, text: text} }

func num[T ~int | ~int64](name string, n T) node {
	return node{name: name, text: strconv.FormatInt(int64(n), 10)}
}

// optNum is a number that is left out when it was not given.
func optNum(name string, n *int) node {
	if n == nil {
		return node{}
	}
	return num(name, *n)
}

// count is a number that is left out when it is zero.
func count[T ~int | ~int64](name string, n T) node {
	if n == 0 {
		return node{}
	}
	return num(name, n)
}

func flag(name string, b bool) node { return node{name: name, text: strconv.FormatBool(b)} }

func optFlag(name string, b *bool) node {
	if b == nil {
		return node{}
	}
	return flag(name, *b)
}

func decimal(name string, f float64) node {
	return node{name: name, text: strconv.FormatFloat(f, 'f', -1, 64)}
}

// moment is a time as EC2 writes it; the zero time is left out.
func moment(name string, t time.Time) node {
	if t.IsZero() {
		return node{}
	}
	return node{name: name, text: t.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// list is a set as EC2 writes it: an element of items. It is written even when empty.
func list[T any](name string, values []T, f func(T) []node) node {
	return sequence(name, "item", values, f)
}

// members is a list as the query protocol of IAM and STS writes it.
func members[T any](name string, values []T, f func(T) []node) node {
	return sequence(name, "member", values, f)
}

func sequence[T any](name, each string, values []T, f func(T) []node) node {
	n := node{name: name, keep: true}
	for _, v := range values {
		n.kids = append(n.kids, node{name: each, kids: f(v), keep: true})
	}
	return n
}

// texts is a set of plain texts.
func texts(name string, values []string) node {
	n := node{name: name}
	for _, v := range values {
		n.kids = append(n.kids, txt("item", v))
	}
	return n
}

func (n node) empty() bool {
	said := func(k node) bool { return !k.empty() }
	return n.name == "" || !n.keep && n.text == "" && !slices.ContainsFunc(n.kids, said)
}

func (n node) write(b *bytes.Buffer) {
	if n.empty() {
		return
	}
	b.WriteString("<" + n.name + ">")
	// EscapeText fails only when its writer does, and a buffer does not.
	_ = xml.EscapeText(b, []byte(n.text))
	for _, k := range n.kids {
		k.write(b)
	}
	b.WriteString("</" + n.name + ">")
}

// document is an answer with its root element and namespace.
func document(root, namespace string, kids ...node) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + "<" + root)
	if namespace != "" {
		b.WriteString(` xmlns="` + namespace + `"`)
	}
	b.WriteString(">")
	for _, k := range kids {
		k.write(&b)
	}
	b.WriteString("</" + root + ">")
	return b.Bytes()
}
