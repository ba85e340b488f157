package world

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
)

// Device is one device of a machine, as a driver of dynamic resources has published it or a pool states it.
type Device struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool,omitempty"` // none where a pool of machines states it
	Name   string `json:"name"`
	Taken  bool   `json:"taken,omitempty"` // a resource claim has it

	Meets      []string          `json:"meets,omitempty"`      // the selections that accept it, in order
	Withheld   []string          `json:"withheld,omitempty"`   // those that would, but for a taint or for what is not planned for, in order
	Attributes map[string]string `json:"attributes,omitempty"` // those that some constraint compares, by qualified name, with their types
}

// Accepted reports whether the selection accepts the device.
func (d *Device) Accepted(selection string) bool { return has(d.Meets, selection) }

// Barred reports whether the selection would accept the device, and it cannot be had.
func (d *Device) Barred(selection string) bool { return has(d.Withheld, selection) }

func has(sorted []string, s string) bool {
	_, found := slices.BinarySearchFunc(sorted, s, strings.Compare)
	return found
}

// DevicePool is a pool of devices of a node of which none can be had now.
type DevicePool struct {
	Driver string      `json:"driver"`
	Name   string      `json:"name"`
	Code   reason.Code `json:"code"`
	Detail string      `json:"detail,omitempty"`
}

// DeviceTemplate is the devices that machines to come will have, of those that meet its requirements.
type DeviceTemplate struct {
	Requirements label.Set `json:"requirements,omitempty"`
	Devices      []Device  `json:"devices,omitempty"`
}

// DeviceClaim is what a pod asks for by one resource claim.
type DeviceClaim struct {
	Key
	Shared    bool            `json:"shared,omitempty"`    // it was not made for this pod alone: others may name it
	Allocated bool            `json:"allocated,omitempty"` // it has devices
	Node      string          `json:"node,omitempty"`      // whose they are
	Requests  []DeviceRequest `json:"requests,omitempty"`
	Alike     []DeviceAlike   `json:"alike,omitempty"`
	Problem   DeviceProblem   `json:"problem,omitzero"` // why it cannot be planned for
}

// DeviceProblem says why a resource claim cannot be planned for.
type DeviceProblem struct {
	Code   reason.Code `json:"code,omitempty"`
	Detail string      `json:"detail,omitempty"`
	Hint   string      `json:"hint,omitempty"`
}

// DeviceRequest asks for devices by the first of its options that can be had.
type DeviceRequest struct {
	Name    string         `json:"name"`
	Options []DeviceOption `json:"options"`
}

// DeviceOption is so many devices of one selection.
type DeviceOption struct {
	Name      string `json:"name,omitempty"` // of a subrequest
	Selection string `json:"selection"`      // which devices are accepted, by a digest of all that says so
	Class     string `json:"class"`
	All       bool   `json:"all,omitempty"` // that the machine has, and at least one
	Count     int    `json:"count,omitempty"`
}

// DeviceAlike wants all devices of some requests to have one value of an attribute.
type DeviceAlike struct {
	Attribute string   `json:"attribute"`
	Requests  []string `json:"requests,omitempty"` // by name, or with that of the option; none: all
}

// On reports whether the claim has devices of the node of that name.
func (c *DeviceClaim) On(node string) bool { return c.Allocated && c.Node == node }
