package device

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

func slicesText(n, of int64) string {
	return fmt.Sprintf("%d of %d slices of its latest generation are published", n, of)
}

// claimsOf is what a pod asks for.
func (w *work) claimsOf(pod world.Key, wishes Wishes) []world.DeviceClaim {
	out := make([]world.DeviceClaim, 0, len(wishes.Claims))
	for _, x := range wishes.Claims {
		out = append(out, w.claim(pod, wishes, x))
	}
	return out
}

func (w *work) claim(pod world.Key, wishes Wishes, x Wish) world.DeviceClaim {
	if x.Claim == "" {
		return world.DeviceClaim{
			Key:     world.Key{Namespace: pod.Namespace, Name: x.Name},
			Problem: world.DeviceProblem{Code: reason.Claims, Detail: "the ResourceClaim of resourceClaims[" + x.Name + "] is not there yet", Hint: "see whether its ResourceClaimTemplate exists, and the pod's events"},
		}
	}
	k := world.Key{Namespace: pod.Namespace, Name: x.Claim}
	out := world.DeviceClaim{Key: k, Shared: !x.Own}
	c, there := w.claims[k]
	deny := func(code reason.Code, hint, format string, args ...any) world.DeviceClaim {
		out.Problem = world.DeviceProblem{Code: code, Detail: "resource claim " + k.Name + ": " + fmt.Sprintf(format, args...), Hint: hint}
		return out
	}
	switch {
	case !there:
		return deny(reason.Claims, "make it, or have the pod name another", "there is none")
	case x.Own && c.owner != wishes.UID:
		return deny(reason.Claims, "delete the claim of that name", "it was not made for this pod")
	case c.going && !c.allocated:
		return deny(reason.Claims, "make it again once it is gone", "it is being deleted")
	case !wishes.Bound && c.reserved >= resourcev1.ResourceClaimReservedForMaxSize:
		return deny(reason.DeviceCount, "have pods share several claims", "%d pods use it, and more cannot", c.reserved)
	case c.allocated && c.node == "":
		return deny(reason.DeviceRequest, "", "it has devices that are of no single node, which is not planned for")
	}
	out.Allocated, out.Node = c.allocated, c.node
	if c.allocated && !wishes.Bound {
		return out // where it has them is where the pod goes
	}
	return w.asked(out, c, deny)
}

// deniedClaim says why a claim cannot be planned for.
type deniedClaim func(code reason.Code, hint, format string, args ...any) world.DeviceClaim

// asked fills in what the claim asks for.
func (w *work) asked(out world.DeviceClaim, c Claim, deny deniedClaim) world.DeviceClaim {
	least := int64(0)
	for i := range c.requests {
		r := &c.requests[i]
		q := world.DeviceRequest{Name: r.Name}
		options := optionsOf(r)
		if len(options) == 0 {
			return deny(reason.DeviceRequest, "", "request %s is of a kind that is not planned for", r.Name)
		}
		fewest := int64(0)
		for j, o := range options {
			p, why := w.option(o)
			if why.Code != "" {
				return deny(why.Code, why.Hint, "request %s: %s", r.Name, why.Detail)
			}
			if len(r.FirstAvailable) > 0 {
				p.Name = r.FirstAvailable[j].Name
			}
			if n := int64(max(p.Count, 1)); fewest == 0 || n < fewest {
				fewest = n
			}
			q.Options = append(q.Options, p)
		}
		least += fewest
		out.Requests = append(out.Requests, q)
	}
	if least > resourcev1.AllocationResultsMaxSize {
		return deny(reason.DeviceCount, "ask for fewer by one claim", "it asks for %d devices, and a claim can have %d", least, resourcev1.AllocationResultsMaxSize)
	}
	for _, k := range c.constraints {
		if k.MatchAttribute == nil {
			return deny(reason.DeviceRequest, "", "it has a constraint other than matchAttribute, which is not planned for")
		}
		out.Alike = append(out.Alike, world.DeviceAlike{Attribute: string(*k.MatchAttribute), Requests: k.Requests})
	}
	return out
}

// option is one thing that would do for a request, or why that is not known.
func (w *work) option(o *resourcev1.ExactDeviceRequest) (out world.DeviceOption, why world.DeviceProblem) {
	if say := unsupported(o); say != "" {
		return out, world.DeviceProblem{Code: reason.DeviceRequest, Detail: say + ", which is not planned for"}
	}
	c, there := w.classes[o.DeviceClassName]
	if !there {
		return out, world.DeviceProblem{Code: reason.DeviceClass, Detail: "there is no DeviceClass " + o.DeviceClassName, Hint: "install what brings the class, or name another"}
	}
	s := w.selection(o, c)
	out = world.DeviceOption{Class: o.DeviceClassName, Selection: s.id, All: o.AllocationMode == resourcev1.DeviceAllocationModeAll}
	if !out.All {
		out.Count = int(min(max(o.Count, 1), resourcev1.AllocationResultsMaxSize+1))
	}
	switch {
	case s.wrong != "":
		return out, world.DeviceProblem{Code: reason.DeviceSelector, Detail: s.wrong}
	case s.failed != "" || out.All && s.failedTaken != "":
		return out, world.DeviceProblem{Code: reason.DeviceSelector, Detail: cmp.Or(s.failed, s.failedTaken), Hint: "have the selector ask first whether what it looks at is there: device.driver == \"…\" && \"…\" in device.attributes[\"…\"] && …"}
	case out.All && s.elsewhere:
		return out, world.DeviceProblem{Code: reason.DeviceRequest, Detail: "it wants all devices, and some are of no single node, which is not planned for"}
	}
	return out, world.DeviceProblem{}
}

// optionsOf are the alternatives of a request, the preferred one first; none if it is of a kind that is not known.
func optionsOf(r *resourcev1.DeviceRequest) []*resourcev1.ExactDeviceRequest {
	if r.Exactly != nil {
		return []*resourcev1.ExactDeviceRequest{r.Exactly}
	}
	var out []*resourcev1.ExactDeviceRequest
	for _, s := range r.FirstAvailable {
		out = append(out, &resourcev1.ExactDeviceRequest{
			DeviceClassName: s.DeviceClassName, Selectors: s.Selectors, AllocationMode: s.AllocationMode, Count: s.Count, Tolerations: s.Tolerations, Capacity: s.Capacity,
		})
	}
	return out
}

// unsupported says what of a request nothing is planned for.
func unsupported(o *resourcev1.ExactDeviceRequest) string {
	switch {
	case o.AdminAccess != nil && *o.AdminAccess:
		return "it asks for admin access"
	case o.Capacity != nil:
		return "it asks for a capacity of a device that others share"
	case o.AllocationMode != "" && o.AllocationMode != resourcev1.DeviceAllocationModeExactCount && o.AllocationMode != resourcev1.DeviceAllocationModeAll:
		return "it has the allocation mode " + string(o.AllocationMode)
	}
	return ""
}

// attributes are those of a kind of device that some constraint compares.
func (w *work) attributes(k *kind) map[string]string {
	var out map[string]string
	for _, name := range w.compared {
		a, has := k.attributes[resourcev1.QualifiedName(name)]
		if domain, bare, ok := strings.Cut(name, "/"); !has && ok && domain == k.driver {
			a, has = k.attributes[resourcev1.QualifiedName(bare)]
		}
		text := attributeText(a)
		if !has || text == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = text
	}
	return out
}

// attributeText is a value with its type; empty if it is of a type that is not known.
func attributeText(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return "string " + *a.StringValue
	case a.IntValue != nil:
		return "int " + strconv.FormatInt(*a.IntValue, 10)
	case a.BoolValue != nil:
		return "bool " + strconv.FormatBool(*a.BoolValue)
	case a.VersionValue != nil:
		return "version " + *a.VersionValue
	}
	return ""
}
