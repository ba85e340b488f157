package market

import (
	"maps"
	"strings"
)

// maxTags is how many tags of one's own a resource may carry.
const maxTags = 50

// Tag adds tags to resources, or replaces their values. If one of the ids is unknown, nothing is done.
func (m *Market) Tag(ids []string, tags Tags) error {
	defer m.lock()()
	sets, err := m.tagged(ids)
	if err != nil {
		return err
	}
	for _, s := range sets {
		all := maps.Clone(*s)
		if all == nil {
			all = Tags{}
		}
		maps.Copy(all, tags)
		maps.DeleteFunc(all, func(k, _ string) bool { return strings.HasPrefix(k, "aws:") })
		if len(all) > maxTags {
			return Errorf(TagLimitExceeded, "More than %d tags specified", maxTags)
		}
	}
	m.version++
	for _, s := range sets { // a new map, because others may be reading the old one
		all := Tags{}
		maps.Copy(all, *s)
		maps.Copy(all, tags)
		*s = all
	}
	return nil
}

// Untag removes tags from resources: those with the value, or with any value if it is nil; all without tags.
func (m *Market) Untag(ids []string, tags map[string]*string) error {
	defer m.lock()()
	sets, err := m.tagged(ids)
	if err != nil {
		return err
	}
	m.version++
	for _, s := range sets {
		*s = maps.Clone(*s)
		maps.DeleteFunc(*s, func(k, v string) bool {
			want, named := tags[k]
			return !strings.HasPrefix(k, "aws:") && (len(tags) == 0 || named && (want == nil || *want == v))
		})
	}
	return nil
}

// tagged finds the tags of resources by their ids.
func (m *Market) tagged(ids []string) ([]*Tags, error) {
	var out []*Tags
	disks := m.disks(ids)
	for _, id := range ids {
		switch kind, _, _ := strings.Cut(id, "-"); kind {
		case "i":
			i, ok := m.instances[id]
			if !ok || i.visible.After(m.at) {
				return nil, Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
			}
			out = append(out, &i.Tags)
		case "vol", "eni":
			t, ok := disks[id]
			if !ok {
				return nil, Errorf(InvalidID, "The ID '%s' is not valid", id)
			}
			out = append(out, t)
		case "lt":
			if t, ok := m.templates[id]; ok {
				out = append(out, &t.Tags)
				continue
			}
			return nil, Errorf(InvalidLaunchTemplateIDNotFound, "The specified launch template, with template ID %s, does not exist.", id)
		default:
			t := m.placeTags(id)
			if t == nil {
				return nil, Errorf(InvalidID, "The ID '%s' is not valid", id)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// placeTags returns the tags of what machines are launched with: subnets, groups, images, reservations.
func (m *Market) placeTags(id string) *Tags {
	if s := m.subnets[id]; s != nil {
		return &s.Tags
	}
	if g := m.groups[id]; g != nil {
		return &g.Tags
	}
	if i := m.images[id]; i != nil {
		return &i.Tags
	}
	if p := m.placement[id]; p != nil {
		return &p.Tags
	}
	if r := m.reserved[id]; r != nil {
		return &r.Tags
	}
	return nil
}

// disks finds the tags of the named volumes and network interfaces.
func (m *Market) disks(ids []string) map[string]*Tags {
	wanted := map[string]bool{}
	for _, id := range ids {
		if strings.HasPrefix(id, "vol-") || strings.HasPrefix(id, "eni-") {
			wanted[id] = true
		}
	}
	out := map[string]*Tags{}
	if len(wanted) == 0 {
		return out
	}
	for id, d := range m.left {
		if wanted[id] {
			out[id] = &d.Tags
		}
	}
	for _, i := range m.instances {
		if i.State == Terminated { // its volumes and interfaces are gone, or left
			continue
		}
		for k := range i.Volumes {
			if wanted[i.Volumes[k].ID] {
				out[i.Volumes[k].ID] = &i.Volumes[k].Tags
			}
		}
		for k := range i.Interfaces {
			if wanted[i.Interfaces[k].ID] {
				out[i.Interfaces[k].ID] = &i.Interfaces[k].Tags
			}
		}
	}
	return out
}
