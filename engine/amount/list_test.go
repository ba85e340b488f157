package amount_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
)

// list reads a list, or fails the test.
func list(t *testing.T, m map[string]string) amount.List {
	t.Helper()
	l, err := amount.ParseMap(m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPlus(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, tc := range []struct{ a, b, want int64 }{
		{1, 2, 3},
		{5, -7, -2},
		{most, 0, most},
		{most, 1, most},
		{most - 1, 1, most},
		{most - 1, 2, most},
		{1, most, most},
		{most, -1, most - 1},
		{least, 0, least},
		{least, -1, least},
		{least + 1, -1, least},
		{least + 1, -2, least},
		{-1, least, least},
		{least, 1, least + 1},
		{most, least, -1},
	} {
		if got := amount.Plus(tc.a, tc.b); got != tc.want {
			t.Errorf("Plus(%d, %d) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestTimes(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, tc := range []struct {
		value int64
		n     int
		want  int64
	}{
		{250, 4, 1000},
		{250, 1, 250},
		{250, 0, 0},
		{0, most, 0},
		{-250, 4, -1000},
		{most / 2, 2, most - 1},
		{most/2 + 1, 2, most},
		{most, most, most},
		{-(most / 2), 3, least},
		{least, 2, least},
	} {
		of := amount.Of(amount.Entry{Name: amount.CPU, Value: tc.value})
		if got := of.Times(tc.n).Value(amount.CPU); got != tc.want {
			t.Errorf("%d times %d = %d, want %d", tc.value, tc.n, got, tc.want)
		}
		if of.Value(amount.CPU) != tc.value {
			t.Errorf("Times changed the list it was called on to %v", of)
		}
	}
}

// Whatever is done to lists is done name by name, and to neither of them.
func TestLists(t *testing.T) {
	a := list(t, map[string]string{"cpu": "2", "memory": "4Gi", "pods": "1"})
	b := list(t, map[string]string{"cpu": "500m", "gpu": "1", "memory": "5Gi"})
	tests := map[string]struct {
		got  amount.List
		want map[string]string
	}{
		"Plus":        {a.Plus(b), map[string]string{"cpu": "2500m", "gpu": "1", "memory": "9Gi", "pods": "1"}},
		"Minus":       {a.Minus(b), map[string]string{"cpu": "1500m", "gpu": "-1", "memory": "-1Gi", "pods": "1"}},
		"Max":         {a.Max(b), map[string]string{"cpu": "2", "gpu": "1", "memory": "5Gi", "pods": "1"}},
		"Min":         {a.Min(b), map[string]string{"cpu": "500m", "gpu": "0", "memory": "4Gi", "pods": "0"}},
		"Floor":       {a.Minus(b).Floor(), map[string]string{"cpu": "1500m", "gpu": "0", "memory": "0", "pods": "1"}},
		"WithKnown":   {a.With("memory", 1000), map[string]string{"cpu": "2", "memory": "1", "pods": "1"}},
		"WithNew":     {a.With("gpu", 3000), map[string]string{"cpu": "2", "gpu": "3", "memory": "4Gi", "pods": "1"}},
		"PlusNothing": {a.Plus(nil), map[string]string{"cpu": "2", "memory": "4Gi", "pods": "1"}},
		"NothingPlus": {amount.List(nil).Plus(a), map[string]string{"cpu": "2", "memory": "4Gi", "pods": "1"}},
		"Of":          {amount.Of(amount.Entry{Name: "b", Value: 1000}, amount.Entry{Name: "a", Value: 1000}, amount.Entry{Name: "b", Value: 2000}), map[string]string{"a": "1", "b": "3"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(list(t, tc.want), tc.got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if a.String() != "cpu 2, memory 4Gi, pods 1" || b.String() != "cpu 500m, gpu 1, memory 5Gi" {
		t.Errorf("the lists themselves have changed: %v; %v", a, b)
	}
}

func TestFind(t *testing.T) {
	l := list(t, map[string]string{"cpu": "2", "gpu": "0"})
	for name, want := range map[string]struct {
		value int64
		named bool
	}{"cpu": {2000, true}, "gpu": {0, true}, "pods": {0, false}} {
		if value, named := l.Find(name); value != want.value || named != want.named || l.Value(name) != want.value {
			t.Errorf("%s: %d, named %t; want %+v", name, value, named, want)
		}
	}
}

// The first resource by name that is too scarce is told, and what is not wanted never is.
func TestShort(t *testing.T) {
	room := list(t, map[string]string{"cpu": "2", "memory": "4Gi"})
	tests := map[string]struct {
		wants map[string]string
		want  amount.Shortage
		short bool
	}{
		"AllOfIt":         {wants: map[string]string{"cpu": "2", "memory": "4Gi"}},
		"NothingOfOther":  {wants: map[string]string{"cpu": "1", "gpu": "0"}},
		"LessThanNothing": {wants: map[string]string{"gpu": "-1"}},
		"AThousandth":     {wants: map[string]string{"cpu": "2001m"}, want: amount.Shortage{Name: "cpu", Wants: 2001, Has: 2000}, short: true},
		"Unknown":         {wants: map[string]string{"cpu": "1", "gpu": "1"}, want: amount.Shortage{Name: "gpu", Wants: 1000}, short: true},
		"Last":            {wants: map[string]string{"memory": "4Gi", "pods": "1"}, want: amount.Shortage{Name: "pods", Wants: 1000}, short: true},
		"FirstOfTwo":      {wants: map[string]string{"cpu": "3", "memory": "5Gi"}, want: amount.Shortage{Name: "cpu", Wants: 3000, Has: 2000}, short: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wants := list(t, tc.wants)
			if got, short := wants.Short(room); got != tc.want || short != tc.short || wants.Fits(room) == short {
				t.Errorf("short of %+v, %t; want %+v, %t", got, short, tc.want, tc.short)
			}
		})
	}
}

// What is written is read back as it was, and read by people in their units.
func TestWritten(t *testing.T) {
	tests := map[string]struct {
		name  string
		value int64
		text  string
	}{
		"Cores":       {amount.CPU, 4000, "4"},
		"Millicores":  {amount.CPU, 250, "250m"},
		"ManyCores":   {amount.CPU, 1024_000, "1024"},
		"Zero":        {amount.Memory, 0, "0"},
		"Bytes":       {amount.Memory, 1023_000, "1023"},
		"Kibibytes":   {amount.Memory, 1024_000, "1Ki"},
		"Mebibytes":   {amount.Memory, 1536 << 20 * 1000, "1536Mi"},
		"Gibibytes":   {amount.Memory, 3 << 30 * 1000, "3Gi"},
		"Tebibytes":   {amount.Ephemeral, 2 << 40 * 1000, "2Ti"},
		"Less":        {amount.Memory, -(3 << 30) * 1000, "-3Gi"},
		"HugePages":   {"hugepages-2Mi", 4 << 20 * 1000, "4Mi"},
		"PlainDevice": {"example.com/fpga", 2048_000, "2048"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if text := amount.Text(tc.name, tc.value); text != tc.text {
				t.Errorf("written as %q, want %q", text, tc.text)
			}
			if back, err := amount.Parse(tc.text); err != nil || back != tc.value {
				t.Errorf("%q is read as %d, %v; want %d", tc.text, back, err, tc.value)
			}
		})
	}
}

// From 1Mi on bytes are rounded down to whole Ki; below they are exact.
func TestAtMost(t *testing.T) {
	tests := map[string]struct {
		name  string
		value int64
		want  string
	}{
		"Below":     {amount.Memory, 1<<20*1000 - 1000, "1048575"},
		"OneMi":     {amount.Memory, 1 << 20 * 1000, "1Mi"},
		"JustAbove": {amount.Memory, 1<<20*1000 + 1000, "1Mi"},
		"NextKi":    {amount.Memory, 1025 * 1024 * 1000, "1025Ki"},
		"NoBytes":   {"example.com/fpga", 1<<20*1000 + 1, "1048576.001"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := amount.AtMost(tc.name, tc.value); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// What is wanted and what there is stand in one unit, and never look alike.
func TestAgainst(t *testing.T) {
	const ki, mi, gi = 1 << 10 * 1000, 1 << 20 * 1000, 1 << 30 * 1000
	tests := map[string]struct {
		why, name   string
		wants, has  int64
		want, there string
	}{
		"Cores":       {"Both in cores.", amount.CPU, 500_000, 382_970, "500", "382.97"},
		"OneCore":     {"Also where less than one is left.", amount.CPU, 1000, 930, "1", "0.93"},
		"Thousandth":  {"A thousandth is not lost.", amount.CPU, 4001, 4000, "4.001", "4"},
		"Less":        {"Parts of a core are read in thousandths.", amount.CPU, 501, 500, "501m", "500m"},
		"None":        {"Nothing has no unit.", amount.CPU, 1500, 0, "1500m", "0"},
		"Uncountable": {"What cannot be counted is only said to be.", amount.CPU, math.MaxInt64, 4500, "more than 9.2P", "4.5"},
		"Devices":     {"Devices are whole.", "nvidia.com/gpu", 8000, 4000, "8", "4"},
		"Memory":      {"In the unit of what is asked for.", amount.Memory, 64 * gi, 1425407 * ki, "64Gi", "1.35Gi"},
		"Mebibytes":   {"That may be a smaller one.", amount.Memory, 1500 * mi, 300*mi + 700*ki, "1500Mi", "300.68Mi"},
		"Little":      {"What is too little there takes the next smaller.", amount.Memory, 2 * gi, 5 * mi, "2048Mi", "5Mi"},
		"Close":       {"What there is is rounded down, so they never look alike.", amount.Memory, 2 * gi, 2*gi - 1000, "2Gi", "1.99Gi"},
		"Decimal":     {"A gigabyte is rounded up, what there is down.", amount.Memory, 4_000_000_000_000, 3_000_000_000_000, "3.73Gi", "2.79Gi"},
		"Carry":       {"Rounding may make it whole.", amount.Memory, 2*gi - 1000, 1 * gi, "2Gi", "1Gi"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if want, there := amount.Against(tc.name, tc.wants, tc.has); want != tc.want || there != tc.there {
				t.Errorf("%s\nwants %q, has %q; want %q and %q", tc.why, want, there, tc.want, tc.there)
			}
		})
	}
}

func TestParseExponents(t *testing.T) {
	for in, want := range map[string]int64{
		"1e-3": 1, "1E3": 1_000_000, "1e0": 1000, "1e15": 1_000_000_000_000_000_000, "1e-30": 1, "1e30": math.MaxInt64, "1n": 1, "1u": 1, "1m": 1, "0": 0,
		"+2": 2000, "-250m": -250, "-1e30": -math.MaxInt64, "1k": 1_000_000, "1T": 1_000_000_000_000_000, "1Ei": math.MaxInt64, "9.3P": math.MaxInt64, "9P": 9_000_000_000_000_000_000, "8Pi": 8 << 50 * 1000, "1001u": 2,
	} {
		if got, err := amount.Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"1e31", "1e-31", "e3", "1e", "1ee", ".", "+", "-", "m"} {
		if got, err := amount.Parse(in); err == nil {
			t.Errorf("Parse(%q) = %d; it has to be refused", in, got)
		}
	}
}

// A map that cannot be read names the entry that is wrong, always the same one.
func TestParseMapRefuses(t *testing.T) {
	l, err := amount.ParseMap(map[string]string{"memory": "1Gi", "cpu": "two", "pods": "ten"})
	if l != nil || err == nil || err.Error() != `cpu: quantity "two" is not a number with an optional suffix such as m, Ki or G` {
		t.Errorf("%v, %v", l, err)
	}
	if amount.List(nil).Map() != nil {
		t.Error("a list of nothing is written as no map")
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 pods", 1: "1 pod", 2: "2 pods"} {
		if got := amount.Count(n, "pod"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
