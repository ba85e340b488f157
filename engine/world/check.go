package world

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
)

// refuse says which field of which item cannot be part of a World, and why.
func refuse(item, path, format string, args ...any) error {
	return fmt.Errorf("%s: %s %s", item, path, fmt.Sprintf(format, args...))
}

func checkPod(p Pod) error {
	item := "pod " + p.String()
	switch {
	case p.Name == "":
		return refuse("pod", "name", "is empty")
	case !utf8.ValidString(p.Name) || !utf8.ValidString(p.Namespace):
		return refuse(fmt.Sprintf("pod %q", p.String()), "name", "is not valid UTF-8")
	}
	if err := checkAmounts(item, "requests", p.Requests); err != nil {
		return err
	}
	if err := checkSet(item, "nodeSelector", p.NodeSelector); err != nil {
		return err
	}
	for i, t := range p.NodeTerms {
		if err := checkSet(item, fmt.Sprintf("nodeTerms[%d].labels", i), t.Labels); err != nil {
			return err
		}
	}
	for i, s := range p.Spread {
		if s.Key == "" || s.MaxSkew < 1 {
			return refuse(item, fmt.Sprintf("spread[%d]", i), "needs a key and a maxSkew of at least 1")
		}
	}
	for i, t := range p.PodTerms {
		if t.Key == "" {
			return refuse(item, fmt.Sprintf("podTerms[%d].key", i), "is empty")
		}
	}
	return checkDeviceClaims(item, p.Devices)
}

func checkNode(n Node) error {
	if n.Name == "" {
		return refuse("node", "name", "is empty")
	}
	if err := checkDevices("node "+n.Name, "devices", n.Devices); err != nil {
		return err
	}
	if err := checkAmounts("node "+n.Name, "capacity", n.Capacity); err != nil {
		return err
	}
	return checkAmounts("node "+n.Name, "allocatable", n.Allocatable)
}

func checkClaim(c Claim) error {
	if c.Name == "" {
		return refuse("claim", "name", "is empty")
	}
	if err := checkAmounts("claim "+c.Name, "requests", c.Requests); err != nil {
		return err
	}
	return checkSet("claim "+c.Name, "requirements", c.Requirements)
}

func checkPool(p Pool) error {
	item := p.ID.Kind + " " + p.ID.Name
	if p.ID.Name == "" || p.ID.Kind != NodePool && p.ID.Kind != Provisioner {
		return refuse("pool", "id", "needs a name and a kind, NodePool or Provisioner; it is %q of kind %q", p.ID.Name, p.ID.Kind)
	}
	if err := checkAmounts(item, "limits", p.Limits); err != nil {
		return err
	}
	if p.Charge != nil && *p.Charge < 0 {
		return refuse(item, "charge", "is negative")
	}
	for i, t := range p.Devices {
		path := fmt.Sprintf("devices[%d]", i)
		if err := checkSet(item, path+".requirements", t.Requirements); err != nil {
			return err
		}
		if err := checkDevices(item, path+".devices", t.Devices); err != nil {
			return err
		}
	}
	return checkSet(item, "requirements", p.Requirements)
}

func checkDaemonSet(d DaemonSet) error {
	if d.Name == "" {
		return refuse("daemon set", "name", "is empty")
	}
	p := d.Pod
	p.Key = d.Key
	return checkPod(p)
}

func checkCatalog(c Catalog) error {
	item := "catalogue " + string(c.Template)
	seen := make(map[string]bool, len(c.Shapes))
	for i, s := range c.Shapes {
		path := fmt.Sprintf("shapes[%d]", i)
		switch {
		case s.Name == "":
			return refuse(item, path+".name", "is empty")
		case seen[s.Name]:
			return refuse(item, path+".name", "%q is there twice", s.Name)
		}
		seen[s.Name] = true
		if err := checkAmounts(item, path+".capacity", s.Capacity); err != nil {
			return err
		}
		if err := checkSet(item, path+".labels", s.Labels); err != nil {
			return err
		}
		for j, o := range s.Offers {
			if o.Price < 0 {
				return refuse(item, fmt.Sprintf("%s.offers[%d].price", path, j), "is negative")
			}
			if o.Refused < 0 || o.Refused > 1000 {
				return refuse(item, fmt.Sprintf("%s.offers[%d].refused", path, j), "is %d, and of a thousand", o.Refused)
			}
		}
	}
	return nil
}

func checkDevices(item, path string, devices []Device) error {
	type id struct{ driver, pool, name string }
	seen := make(map[id]bool, len(devices))
	for i := range devices {
		d := &devices[i]
		k := id{d.Driver, d.Pool, d.Name}
		switch {
		case d.Driver == "" || d.Name == "":
			return refuse(item, fmt.Sprintf("%s[%d]", path, i), "needs a driver and a name")
		case seen[k]:
			return refuse(item, fmt.Sprintf("%s[%d]", path, i), "%s of %s is there twice", d.Name, d.Driver)
		case !slices.IsSorted(d.Meets) || !slices.IsSorted(d.Withheld):
			return refuse(item, fmt.Sprintf("%s[%d]", path, i), "has selections that are not sorted")
		}
		seen[k] = true
	}
	return nil
}

func checkDeviceClaims(item string, claims []DeviceClaim) error {
	for i := range claims {
		c := &claims[i]
		path := fmt.Sprintf("devices[%d]", i)
		if c.Name == "" {
			return refuse(item, path+".name", "is empty")
		}
		for j, r := range c.Requests {
			if len(r.Options) == 0 {
				return refuse(item, fmt.Sprintf("%s.requests[%d]", path, j), "asks for nothing")
			}
			for _, o := range r.Options {
				if o.Selection == "" || !o.All && o.Count < 1 {
					return refuse(item, fmt.Sprintf("%s.requests[%d]", path, j), "needs a selection, and a count of at least 1 or all")
				}
			}
		}
	}
	return nil
}

func checkAmounts(item, path string, l amount.List) error {
	for i, e := range l {
		switch {
		case e.Value < 0:
			return refuse(item, path+"."+e.Name, "is negative (%s): give an amount of zero or more", amount.Text(e.Name, e.Value))
		case i > 0 && l[i-1].Name >= e.Name:
			return refuse(item, path, "are not sorted by name: %s comes after %s", e.Name, l[i-1].Name)
		}
	}
	return nil
}

func checkSet(item, path string, s label.Set) error {
	for i, r := range s {
		switch {
		case r.Key == "":
			return refuse(item, path, "have a requirement without a key")
		case i > 0 && s[i-1].Key >= r.Key:
			return refuse(item, path, "are not sorted by key: %q comes after %q", r.Key, s[i-1].Key)
		}
	}
	return nil
}
