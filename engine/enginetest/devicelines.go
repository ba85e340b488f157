package enginetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// DeviceLines generates a World, as Lines does, in which most pods ask for devices.
func DeviceLines() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var out []string
		types := rapid.IntRange(1, 4).Draw(t, "types")
		for i := range types {
			cpu := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "cpu")
			out = append(out, fmt.Sprintf("type t%d cpu=%d memory=%dGi price=0.%02d zones=%s family=%s%s", i, cpu, 2*cpu,
				cpu*rapid.IntRange(2, 5).Draw(t, "price"), rapid.SampledFrom([]string{"a", "a,b"}).Draw(t, "zones"),
				rapid.SampledFrom([]string{"m", "c"}).Draw(t, "family"), rarely(t, "gpu", " gpu=1")))
		}
		for i := range rapid.IntRange(1, 2).Draw(t, "pools") {
			line := fmt.Sprintf("pool p%d weight=%d%s", i, rapid.IntRange(0, 1).Draw(t, "weight"), rarely(t, "limit", " limit=nodes:2"))
			for range rapid.IntRange(0, 3).Draw(t, "templates") {
				where := rapid.SampledFrom([]string{"family:m", "family:c", "type:t0", fmt.Sprintf("type:t%d", types-1)}).Draw(t, "where")
				line += fmt.Sprintf(" devices=%s>%s", where, strings.Join(devices(t, rapid.IntRange(1, 4).Draw(t, "devices"), false), ","))
			}
			out = append(out, line)
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "nodes") {
			line := fmt.Sprintf("node n%d cpu=%d memory=8Gi zone=%s%s", i, rapid.IntRange(1, 6).Draw(t, "room"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"), rarely(t, "deleting", " deleting"))
			for _, d := range devices(t, rapid.IntRange(0, 4).Draw(t, "devices"), true) {
				line += " device=" + d
			}
			out = append(out, line+rarely(t, "lost", " lost=gpu/lost"))
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "apps") {
			out = append(out, deviceApp(t, i))
		}
		return out
	})
}

// devices are so many devices, of two drivers.
func devices(t *rapid.T, n int, there bool) []string {
	var out []string
	for i := range n {
		d := fmt.Sprintf("%s/d%d:sel=%s", rapid.SampledFrom([]string{"gpu", "gpu", "nic"}).Draw(t, "driver"), i, rapid.SampledFrom([]string{"g", "g", "h", "g|h"}).Draw(t, "selection"))
		d += maybe(t, "socket", fmt.Sprintf(":socket=%d", i%2)) + rarely(t, "barred", ":bar=k")
		if there {
			d += rarely(t, "taken", ":taken")
		}
		out = append(out, d)
	}
	return out
}

// deviceApp is the pods of one application, which ask for devices in one way.
func deviceApp(t *rapid.T, i int) string {
	asks := []string{
		" wants=c:g*1", " wants=c:g*2", " wants=c:h*1", " wants=c:g*all", " wants=c:h*all", " wants=c:g*1+h*1", " wants=c:g*2:alike=socket", " wants=c:g*3|h*1", " wants=c:g*1 wants=d:h*1", " wants=c:k*all",
		fmt.Sprintf(" shared=s%d:g*1", i), " shared=all:h*1", " wants=c:g*1 apart=host", "", " port=80", " select=family:m",
	}
	line := fmt.Sprintf("pod app%d x%d cpu=%dm memory=%dMi", i, rapid.IntRange(1, 4).Draw(t, "count"), rapid.IntRange(1, 20).Draw(t, "cpu")*100, rapid.IntRange(1, 20).Draw(t, "memory")*100)
	line += rapid.SampledFrom(asks).Draw(t, "ask")
	return line + rarely(t, "more", rapid.SampledFrom([]string{" select=zone:a", " wants=e:h*1", " priority=3", " near=host:app0"}).Draw(t, "term"))
}
