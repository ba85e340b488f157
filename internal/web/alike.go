package web

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/reason"
)

// other is pods whose card would look like another's although the reasons differ further down.
type other struct {
	Why  *reason.Why
	Pods []string
	More int
}

// alike puts verdicts that would look the same into one, with the reasons of each below: two cards that say the same leave
// a reader searching for what differs.
func alike(all []verdict) []verdict {
	at := map[string]int{}
	var out []verdict
	for _, v := range all {
		says := v.Text
		if v.Why != nil {
			says = strings.Join(heads(v.Why), "\n")
		}
		looks := strings.Join([]string{v.State, v.Workload, says}, "\n")
		i, ok := at[looks]
		if !ok {
			at[looks] = len(out)
			v.Count = len(v.Pods) + v.More
			out = append(out, v)
			continue
		}
		out[i].Count += len(v.Pods) + v.More
		out[i].Others = append(out[i].Others, other{v.Why, v.Pods, v.More})
	}
	return out
}
