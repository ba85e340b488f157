package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Reach refuses a place from which one of the pod's volumes cannot be reached.
func Reach(p *world.Pod, at *Place) *reason.Why {
	var why *reason.Why
	eachDemand(p, func(d Demand) bool {
		if d.Volume != nil && !d.met(at) {
			why = &reason.Why{Code: reason.Volume, Subject: at.Name, Detail: d.Volume.ID + " is only reached from " + placesText(d.Volume.Places)}
		}
		return why == nil
	})
	return why
}

func reaches(p *world.Pod, at *Place) bool {
	return eachDemand(p, func(d Demand) bool { return d.Volume == nil || d.met(at) })
}

func placesText(places []label.Set) string {
	texts := make([]string, len(places))
	for i, s := range places {
		texts[i] = s.String()
	}
	return strings.Join(texts, " or ")
}

// attach refuses a place that cannot attach as many volumes of a driver as it then would have to.
func attach(p *world.Pod, at *Place) *reason.Why {
	for _, l := range at.Limits {
		if had, more := attachments(p, at, l.Driver); more > 0 && had+more > l.Count {
			return &reason.Why{
				Code: reason.VolumeLimit, Subject: at.Name,
				Detail: fmt.Sprintf("%s attaches %d, has %d, wants %d more", l.Driver, l.Count, had, more),
			}
		}
	}
	return nil
}

// Attaches reports whether one of the pod's volumes may count against a limit.
func Attaches(p *world.Pod) bool {
	return slices.ContainsFunc(p.Volumes, func(v world.Volume) bool { return v.Driver != "" })
}

func attachable(p *world.Pod, at *Place) bool {
	for _, l := range at.Limits {
		if had, more := attachments(p, at, l.Driver); more > 0 && had+more > l.Count {
			return false
		}
	}
	return true
}

// attachments counts the volumes of the driver that are attached, and those that p would add.
func attachments(p *world.Pod, at *Place, driver string) (had, more int) {
	for _, a := range at.Attached {
		if a.Driver == driver {
			had++
		}
	}
	var added []string
	for _, v := range p.Volumes {
		if v.Driver != driver || slices.Contains(added, v.ID) || slices.Contains(at.Attached, Attached{driver, v.ID}) {
			continue
		}
		added = append(added, v.ID)
	}
	return had, len(added)
}
