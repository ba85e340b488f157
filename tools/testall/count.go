package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// counter reads what commands print and counts what it knows: tests of go test
// -json, inputs of fuzz targets, damaged inputs, and clusters of the oracle's job.
type counter struct {
	rest                     []byte
	tests, skipped, packages int
	failed                   []string
	targets, inputs, current int
	clusters, placements     int
	disagreements            int
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test string
}

var (
	execs = regexp.MustCompile(`^fuzz: elapsed: .* execs: (\d+)`)
	trial = regexp.MustCompile(`^\s*(?:plans|moves|small|small-moves|attended|shared|typical|tiny)\s+(\d+)\s+(\d+)\s+\d+\s+(\d+)\s*$`)
	hurt  = regexp.MustCompile(`^(damaged \S+)\s+(\d+)\s+\d+\s+\d+\s+(\d+)\s*$`)
)

func (c *counter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, ok := bytes.Cut(c.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		c.line(line)
		c.rest = rest
	}
}

// flush counts what the last line said, and the last target's inputs.
func (c *counter) flush() {
	c.line(c.rest)
	c.rest = nil
	c.target()
}

func (c *counter) line(line []byte) {
	var e event
	if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &e) == nil {
		c.event(e)
		return
	}
	text := string(line)
	switch m := trial.FindStringSubmatch(text); {
	case m != nil:
		c.clusters += number(m[1])
		c.placements += number(m[2])
		c.disagreements += number(m[3])
	case hurt.MatchString(text):
		m := hurt.FindStringSubmatch(text)
		c.inputs += number(m[2])
		if number(m[3]) > 0 {
			c.failed = append(c.failed, m[1])
		}
	case strings.HasPrefix(text, "+ ") && strings.Contains(text, " -fuzz "):
		c.target()
		c.targets++
	case strings.HasPrefix(text, "--- FAIL: "):
		c.failed = append(c.failed, strings.Fields(text)[2])
	default:
		if m := execs.FindStringSubmatch(text); m != nil {
			c.current = number(m[1])
		}
	}
}

// target ends the counting of one fuzz target's inputs.
func (c *counter) target() { c.inputs, c.current = c.inputs+c.current, 0 }

func (c *counter) event(e event) {
	switch {
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail"):
		c.packages++
		if e.Action == "fail" {
			c.failed = append(c.failed, strings.TrimPrefix(e.Package, module+"/"))
		}
	case e.Test == "":
	case e.Action == "pass":
		c.tests++
	case e.Action == "skip":
		c.skipped++
	case e.Action == "fail":
		c.tests++
		c.failed = append(c.failed, strings.TrimPrefix(e.Package, module+"/")+" "+e.Test)
	}
}

// String says what there is to say.
func (c *counter) String() string {
	var said []string
	say := func(n int, what string) {
		if n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(c.tests, "tests")
	say(c.skipped, "skipped")
	say(c.packages, "packages")
	say(c.targets, "targets")
	say(c.inputs, "inputs")
	say(c.clusters, "clusters")
	say(c.placements, "placements")
	say(c.disagreements, "disagreements")
	if len(said) == 0 {
		return "nothing counted"
	}
	return strings.Join(said, ", ")
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // digits only
	return n
}
