package device

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Why says why the claims cannot all be given devices of the machine, of which some pools cannot be had. It is asked
// once Allocate has said so.
func Why(devices []world.Device, inUse []bool, lost []world.DevicePool, claims []*world.DeviceClaim) *reason.Why {
	for _, c := range claims {
		for i := range c.Requests {
			if why := whyNot(devices, inUse, lost, c, &c.Requests[i]); why != nil {
				return why
			}
		}
	}
	for _, c := range claims {
		if newSearch(devices, inUse, nil).fewest(c) > mostDevices {
			return &reason.Why{Code: reason.DeviceCount, Detail: fmt.Sprintf("resource claim %s: its requests want more devices than the %d that a claim can have", c.Name, mostDevices)}
		}
	}
	if exhausted(devices, inUse, claims) {
		return &reason.Why{Code: reason.Steps, Detail: "its devices can be given in too many ways for all of them to be tried"}
	}
	last := claims[len(claims)-1]
	if len(claims) > 1 {
		return &reason.Why{Code: reason.NoDevice, Detail: fmt.Sprintf("each request of its resource claims could be given devices, but not all of them at once, such as those of %s", last.Name)}
	}
	return &reason.Why{Code: reason.NoDevice, Detail: fmt.Sprintf("resource claim %s: each request could be given devices, but not all of them at once, with its constraints", last.Name)}
}

// whyNot says why the request cannot be given devices, were it the only one; nil if it can.
func whyNot(devices []world.Device, inUse []bool, lost []world.DevicePool, c *world.DeviceClaim, r *world.DeviceRequest) *reason.Why {
	alone := world.DeviceClaim{Key: c.Key, Requests: []world.DeviceRequest{*r}, Alike: c.Alike}
	if _, ok := Allocate(devices, inUse, []*world.DeviceClaim{&alone}); ok {
		return nil
	}
	if len(lost) > 0 {
		return &reason.Why{Code: lost[0].Code, Detail: fmt.Sprintf("%s: pool %s of %s: %s", named(c, r), lost[0].Name, lost[0].Driver, lost[0].Detail)}
	}
	if len(r.Options) == 1 {
		return optionWhy(devices, inUse, c, r, &r.Options[0])
	}
	why := &reason.Why{Code: reason.NoDevice, Detail: named(c, r) + ": none of its alternatives can be had"}
	for i := range r.Options {
		why.Causes = append(why.Causes, optionWhy(devices, inUse, c, r, &r.Options[i]))
	}
	return why
}

func named(c *world.DeviceClaim, r *world.DeviceRequest) string {
	return fmt.Sprintf("resource claim %s, request %s", c.Name, r.Name)
}

// optionWhy says what the devices of the machine lack for one option.
func optionWhy(devices []world.Device, inUse []bool, c *world.DeviceClaim, r *world.DeviceRequest, o *world.DeviceOption) *reason.Why {
	accepted, free, barred := 0, 0, 0
	for i := range devices {
		switch d := &devices[i]; {
		case d.Barred(o.Selection):
			barred++
		case d.Accepted(o.Selection):
			accepted++
			if !inUse[i] {
				free++
			}
		}
	}
	what := named(c, r)
	if o.Name != "" {
		what += "/" + o.Name
	}
	want := fmt.Sprint(o.Count)
	if o.All {
		want = "all"
	}
	because := func(code reason.Code, format string, args ...any) *reason.Why {
		return &reason.Why{Code: code, Detail: what + ": " + fmt.Sprintf(format, args...)}
	}
	switch {
	case o.All && barred > 0:
		return because(reason.NoDevice, "wants all devices of class %s, and %d of them cannot be had for a taint or for what is not planned for", o.Class, barred)
	case accepted == 0 && len(devices) == 0:
		return because(reason.NoDevice, "wants %s of class %s; there is no device", want, o.Class)
	case accepted == 0:
		return because(reason.NoDevice, "wants %s of class %s; none of %d devices is accepted", want, o.Class, len(devices))
	case o.All && accepted > mostDevices || o.Count > mostDevices:
		return because(reason.DeviceCount, "wants more devices than the %d that a claim can have", mostDevices)
	case !o.All && accepted < o.Count:
		return because(reason.NoDevice, "wants %s of class %s; %d of %d devices are accepted", want, o.Class, accepted, len(devices))
	case o.All && free < accepted || free < o.Count:
		return because(reason.DeviceTaken, "wants %s of class %s; %d of %d are free", want, o.Class, free, accepted)
	}
	return because(reason.NoDevice, "wants %s of class %s with equal attributes, as its constraints say; %d are free, and not so many are alike", want, o.Class, free)
}
