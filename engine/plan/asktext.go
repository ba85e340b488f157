package plan

import (
	"fmt"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
)

func (a Ask) write(b *strings.Builder, currency string, wide bool) {
	mark := ""
	if a.Synthetic {
		mark = "~"
	}
	pods := ""
	if len(a.Pods) > 0 {
		pods = "  " + amount.Count(len(a.Pods), "pod")
	}
	fmt.Fprintf(b, "+ %-18s %-16s %-14s %-10s %s%s%s\n", a.Name, a.Shape, a.Zone, a.CapacityType, mark, a.Price.PerHour(currency), pods)
	var why []string
	if a.Why.Binds != "" {
		why = append(why, a.Why.Binds+" binds")
	}
	if a.Why.RunnerUp != "" {
		why = append(why, fmt.Sprintf("next best %s at %s", a.Why.RunnerUp, a.Why.RunnerUpPrice.PerHour(currency)))
	}
	if a.Why.LeftOut != "" {
		why = append(why, "left out "+a.Why.LeftOut)
	}
	if n := len(a.Menu); n > 1 {
		shapes := make([]string, n)
		for i, c := range a.Menu {
			shapes[i] = c.Shape
		}
		why = append(why, fmt.Sprintf("%d types would do: %s", n, Some(shapes, wide)))
	}
	if a.Refused > 0 {
		why = append(why, fmt.Sprintf("%.0f %% of recent requests for it were refused", float64(a.Refused)/10))
	}
	if a.Expected > 0 {
		why = append(why, "counted as "+a.Expected.PerHour(currency))
	}
	if a.Reservation != "" {
		why = append(why, "reservation "+a.Reservation)
	}
	if a.Relaxed {
		why = append(why, "minValues lowered")
	}
	if len(why) > 0 {
		fmt.Fprintf(b, "    why:  %s\n", strings.Join(why, "; "))
	}
	if len(a.Pods) > 0 {
		fmt.Fprintf(b, "    pods: %s\n", Some(names(a.Pods), wide))
	}
}
