package amount

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// scale is what a suffix multiplies by: base to the power of exp.
type scale struct{ base, exp int64 }

// scaleOf reads a suffix as Kubernetes writes it, none among them.
func scaleOf(suffix string) (scale, bool) {
	for i, s := range []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} {
		if s == suffix {
			return scale{10, int64(3*i - 9)}, true
		}
	}
	for i, s := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if s == suffix {
			return scale{2, int64(10*i + 10)}, true
		}
	}
	exp, ok := exponent(suffix)
	return scale{10, exp}, ok
}

// Parse reads a quantity as Kubernetes writes it ("250m", "1.5Gi", "2e3").
// What is finer than a thousandth is rounded up; what is too large saturates.
func Parse(s string) (int64, error) {
	if s == "" {
		return 0, errors.New("empty quantity")
	}
	digits := strings.TrimLeft(s, "+-")
	end := strings.IndexFunc(digits, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	number, suffix := digits, ""
	if end >= 0 {
		number, suffix = digits[:end], digits[end:]
	}
	if len(s)-len(digits) > 1 || strings.Trim(number, ".") == "" || strings.Count(number, ".") > 1 {
		return 0, fmt.Errorf("quantity %q is not a number with an optional suffix such as m, Ki or G", s)
	}
	scale, ok := scaleOf(suffix)
	if !ok {
		return 0, fmt.Errorf("quantity %q has an unknown suffix %q", s, suffix)
	}
	v, _ := new(big.Rat).SetString(number)
	pow := new(big.Int).Exp(big.NewInt(scale.base), big.NewInt(max(scale.exp, -scale.exp)), nil)
	if scale.exp >= 0 {
		v.Mul(v, new(big.Rat).SetInt(pow))
	} else {
		v.Quo(v, new(big.Rat).SetInt(pow))
	}
	v.Mul(v, big.NewRat(Unit, 1))
	num, rest := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		num.Add(num, big.NewInt(1))
	}
	out := int64(math.MaxInt64)
	if num.IsInt64() {
		out = num.Int64()
	}
	if strings.HasPrefix(s, "-") {
		return -out, nil
	}
	return out, nil
}

// exponent reads "e3" or "E-2"; exponents beyond what an int64 can show are refused.
func exponent(s string) (int64, bool) {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	n, err := strconv.ParseInt(s[1:], 10, 8)
	return n, err == nil && n >= -30 && n <= 30
}

// Text writes a value of the named resource as a person would: cores as 250m
// or 4, bytes in binary units, everything else as a plain number. What is too large
// to be counted is only said to be.
func Text(name string, v int64) string {
	if v == math.MaxInt64 {
		return "more than 9.2P"
	}
	return exact(name, v)
}

// AtMost writes a value as Text does, rounded down to what people write: bytes to whole Ki from 1Mi on. More than one of
// anything else is written with the digits of its fraction: 382.97 cores instead of 382970m.
func AtMost(name string, v int64) string {
	const step = 1024 * Unit
	switch {
	case v == math.MaxInt64:
	case inBytes(name) && v >= 1024*step:
		v -= v % step
	case !inBytes(name) && v > Unit:
		return digits(v, Unit, Unit, false)
	}
	return Text(name, v)
}

// Against writes how much of something is wanted and how much of it there is, in one unit where that can be, so that the two are
// compared at a glance. Of bytes that is the largest unit in which what is wanted was written; there, what is has two digits of a
// fraction, rounded down.
func Against(name string, wants, has int64) (string, string) {
	switch {
	case wants == math.MaxInt64 || has == math.MaxInt64 || has == 0:
	case inBytes(name):
		for _, u := range binaryUnits {
			in := int64(Unit) << u.shift
			if odd := wants%(Unit<<20) != 0; wants < in || wants%in != 0 && !odd {
				continue // written in a smaller unit, such as 1500Mi; what was written in none, such as 1G, is shown in the largest
			}
			if h := digits(has, in, 100, false); h != "0" {
				return digits(wants, in, 100, true) + u.suffix, h + u.suffix
			}
		}
	case max(wants, has) >= Unit:
		return digits(wants, Unit, Unit, false), digits(has, Unit, Unit, false)
	}
	return Text(name, wants), AtMost(name, has)
}

// digits writes how many of a unit a value is, in so many parts of one: of 100, with two digits of the fraction.
func digits(v, unit, parts int64, up bool) string {
	whole, rest := v/unit, v%unit*parts
	if up && rest%unit != 0 {
		rest += unit
	}
	if rest/unit == parts {
		whole, rest = whole+1, 0
	}
	text := strconv.FormatInt(whole, 10)
	if fraction := rest / unit; fraction > 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(parts+fraction, 10)[1:], "0")
	}
	return text
}

// binaryUnits are the units of bytes, the largest first.
var binaryUnits = [...]struct {
	suffix string
	shift  uint
}{{"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}}

// exact writes a value as Parse reads it.
func exact(name string, v int64) string {
	if v%Unit != 0 {
		return strconv.FormatInt(v, 10) + "m"
	}
	whole := v / Unit
	if !inBytes(name) {
		return strconv.FormatInt(whole, 10)
	}
	for _, u := range binaryUnits {
		if whole != 0 && whole%(1<<u.shift) == 0 {
			return strconv.FormatInt(whole>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(whole, 10)
}

func inBytes(name string) bool {
	return name == Memory || name == Ephemeral || strings.HasPrefix(name, "hugepages-")
}

// String writes the list as "cpu 2, memory 4Gi".
func (l List) String() string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = e.Name + " " + Text(e.Name, e.Value)
	}
	return strings.Join(parts, ", ")
}

// ParseMap builds a List from name to quantity, and names the entry that is not one.
func ParseMap(m map[string]string) (List, error) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	out := make(List, 0, len(m))
	for _, n := range names {
		v, err := Parse(m[n])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		out = append(out, Entry{n, v})
	}
	return out, nil
}

// Map writes the list as name to quantity, the form ParseMap reads.
func (l List) Map() map[string]string {
	if l == nil {
		return nil
	}
	m := make(map[string]string, len(l))
	for _, e := range l {
		m[e.Name] = exact(e.Name, e.Value)
	}
	return m
}

// Count writes how many there are of something, with the noun in the number that goes with it.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
