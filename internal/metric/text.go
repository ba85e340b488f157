package metric

import (
	"hash/maphash"
	"io"
	"iter"
	"strconv"
	"strings"
)

// WriteText writes a per-object metric to w in the text format of Prometheus, one series at a time. What a
// scrape makes of series that are gathered first takes a kilobyte of memory each, and a large cluster has
// half a million. A sample's labels are read before the next one is asked for, and not kept.
func (s *Set) WriteText(w io.Writer, name string, samples iter.Seq[Sample]) error {
	c := s.metric(name)
	if !c.PerObject {
		panic(c.Name + " has no series for single objects")
	}
	var line []byte
	var err error
	said, seed := map[uint64]bool{}, maphash.MakeSeed()
	for sample := range samples {
		labels := clean(sample.Labels)
		if len(labels) != len(c.Labels) {
			panic(c.Name + " has " + strconv.Itoa(len(c.Labels)) + " labels, not " + strconv.Itoa(len(labels)))
		}
		start := 0
		if line = line[:0]; len(said) == 0 {
			line = append(line, "# HELP "+name+" "+c.Help+"\n# TYPE "+name+" gauge\n"...)
			start = len(line)
		}
		line = appendSeries(line, name, c.Labels, labels)
		key := maphash.Bytes(seed, line[start:])
		switch {
		case said[key]:
			continue // an object that says one thing twice, of which the first counts
		case len(said) >= c.Max:
			c.dropped()
			continue
		}
		said[key] = true
		line = append(strconv.AppendFloat(append(line, ' '), sample.Value, 'g', -1, 64), '\n')
		if _, err = w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func appendSeries(b []byte, name string, labels, values []string) []byte {
	b = append(b, name...)
	for i, l := range labels {
		if i == 0 {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(append(b, l...), `="`...)
		if v := values[i]; strings.ContainsAny(v, "\\\"\n") {
			b = append(b, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v)...)
		} else {
			b = append(b, v...)
		}
		b = append(b, '"')
	}
	if len(labels) > 0 {
		b = append(b, '}')
	}
	return b
}
