package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// ChargedLines is Lines of which some pools may have charges of their own for each node.
func ChargedLines() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		lines := Lines().Draw(t, "lines")
		sprinkle(t, lines, "pool", "charge", "", "", "", " charge=0", " charge=0.03", " charge=1")
		return lines
	})
}

// sprinkle adds one of the texts, most of which are best empty, to each of the lines of a kind.
func sprinkle(t *rapid.T, lines []string, kind, name string, texts ...string) {
	text := rapid.SampledFrom(texts)
	for i, line := range lines {
		if strings.HasPrefix(line, kind+" ") {
			lines[i] += text.Draw(t, name)
		}
	}
}

// Lines generates a World as the lines that describe it: small, and full of terms that meet. The corpus of plans is made
// of them, and what of pods, nodes and pools the rules look at is among what is drawn.
func Lines() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var out []string
		zones := []string{"a", "a,b", "a,b,c"}
		for i := range rapid.IntRange(1, 4).Draw(t, "types") {
			cpu := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "cpu")
			out = append(out, fmt.Sprintf("type t%d cpu=%d memory=%dGi price=0.%02d zones=%s family=%s%s%s", i, cpu,
				cpu*rapid.IntRange(1, 4).Draw(t, "ratio"), cpu*rapid.IntRange(2, 5).Draw(t, "price"),
				rapid.SampledFrom(zones).Draw(t, "zones"), rapid.SampledFrom([]string{"m", "c"}).Draw(t, "family"),
				maybe(t, "spot", " spot=0.01"+rarely(t, "refused", " refused=900"))+rarely(t, "reserved", fmt.Sprintf(" reserved=cr%d:%d", i%2, 1+i%2)),
				rarely(t, "gpu", " gpu=1")))
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "pools") {
			out = append(out, fmt.Sprintf("pool p%d weight=%d%s%s%s%s%s", i, rapid.IntRange(0, 1).Draw(t, "weight"),
				rarely(t, "taint", " taint=dedicated:NoSchedule"), rarely(t, "soft", " taint=soft:PreferNoSchedule"),
				rarely(t, "limit", " limit=cpu:10"), rarely(t, "nodes", " limit=nodes:2"), maybe(t, "requires", rapid.SampledFrom([]string{
					" require=family:m", " require=zone:a|b", " team=x", " require=ct:on-demand", " startup=cilium:NoExecute", " require=family:c|m/2", " require=type:Exists:/2", " require=team:x|y",
				}).Draw(t, "requirement"))))
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
			out = append(out, fmt.Sprintf("node n%d cpu=%d memory=8Gi zone=%s%s%s%s", i, rapid.IntRange(1, 6).Draw(t, "room"),
				rapid.SampledFrom([]string{"a", "b", "d"}).Draw(t, "zone"), rarely(t, "taint", " taint=dedicated:NoSchedule"),
				rarely(t, "cordoned", " cordoned"), rarely(t, "pool", " pool=p0")+rarely(t, "deleting", " deleting")))
		}
		if rapid.IntRange(0, 3).Draw(t, "daemon") == 0 {
			out = append(out, "daemonset log cpu=100m tolerate=*")
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "apps") {
			out = append(out, application(t, i)...)
		}
		if slices.ContainsFunc(out, func(line string) bool { return strings.Contains(line, " require=team:x|y") }) {
			sprinkle(t, out, "pod", "team", "", "", " spread=team:1:of=app0", " spread=team:1:of=app1", " apart=team:app0", " near=team:app1")
		}
		// What is new is drawn here, after all else, such as sprinkle(t, out, "node", "warm", "", "", "", " warm=yes"):
		// so the Worlds of a seed that have none of it stay as they were, and the corpus shows that their plans do.
		return out
	})
}

// application is the pods of one application, at times of two sizes that carry one label and the same terms.
func application(t *rapid.T, i int) []string {
	terms := []string{
		" spread=zone:1:of=SELF", " spread=zone:2:any:of=SELF", " spread=host:1:of=SELF", " spread=host:2:taints:of=SELF", " spread=zone:1:min=2:of=SELF",
		" spread=zone:1:soft:of=SELF", " spread=host:1:of=app0",
		" apart=host:SELF", " apart=zone:SELF", " apart=host:app0", " apart=zone:app1", " near=zone:SELF", " near=host:SELF", " near=zone:app0", " near=host:app1",
		" near=zone:app0:50", " apart=host:app0:50", " select=zone:a", " select=family:m", " select=team:x", " affinity=zone:b affinity=family:c", " prefer=50:zone:b",
		" select=zone:NotIn:a", " tolerate=dedicated", " port=80", " priority=5", " priority=3", " volume=v:ebs@a", " volume=new:ebs@?", " volume=own-SELF:ebs@?",
		" once=shared:ebs@a", " once=late:ebs@?", " once=ours-SELF:ebs@?", " oncepod=sole:ebs@?", " gated", " near=zone:app2 near=host:app2",
		" spread=ct:1:of=SELF", " spread=family:2:of=SELF", " apart=family:SELF", " namespace=other", " select=type:t0|t1", " gpu=1",
	}
	name := fmt.Sprintf("app%d", i)
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		b.WriteString(rapid.SampledFrom(terms).Draw(t, "term"))
	}
	if rapid.IntRange(0, 4).Draw(t, "runs") == 0 {
		fmt.Fprintf(&b, " node=n%d", rapid.IntRange(0, 3).Draw(t, "node"))
	}
	size := func(name string) string {
		return fmt.Sprintf("pod %s x%d cpu=%dm memory=%dMi", name, rapid.IntRange(1, 6).Draw(t, "count"),
			rapid.IntRange(1, 20).Draw(t, "cpu")*100, rapid.IntRange(1, 30).Draw(t, "memory")*100)
	}
	shared := strings.ReplaceAll(b.String(), "SELF", name)
	out := []string{size(name) + shared}
	if rarely(t, "two sizes", "yes") != "" {
		out = append(out, size(name+"-too")+" app="+name+shared)
	}
	return out
}

func maybe(t *rapid.T, name, text string) string {
	if rapid.Bool().Draw(t, name) {
		return text
	}
	return ""
}

func rarely(t *rapid.T, name, text string) string {
	if rapid.IntRange(0, 4).Draw(t, name) == 0 {
		return text
	}
	return ""
}
