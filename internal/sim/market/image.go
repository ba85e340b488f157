package market

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Image is a machine image.
type Image struct {
	ID          string
	Name        string
	Description string
	Owner       string // account
	OwnerAlias  string // amazon, or empty
	Arch        string // x86_64 or arm64
	Platform    string // windows, or empty
	State       string
	RootDevice  string
	Public      bool
	Created     time.Time
	Deprecated  time.Time // when the image becomes deprecated; zero: never
	Tags        Tags
}

// Parameter is an entry of the parameter store.
type Parameter struct {
	Name     string
	Value    string
	Version  int64
	Modified time.Time
}

// AddImage makes an image; its id is made here unless given.
func (m *Market) AddImage(i Image) Image {
	defer m.lock()()
	if i.ID == "" {
		i.ID = m.id("ami")
	}
	i.State = cmp.Or(i.State, "available")
	i.RootDevice = cmp.Or(i.RootDevice, "/dev/xvda")
	if i.Created.IsZero() {
		i.Created = m.at
	}
	i.Tags = maps.Clone(i.Tags)
	m.images[i.ID] = &i
	return i
}

// Images returns all images, by id.
func (m *Market) Images() []Image {
	defer m.lock()()
	out := sorted(m.images)
	for i := range out {
		out[i].Tags = maps.Clone(out[i].Tags)
	}
	return out
}

// SetParameter writes the parameter store.
func (m *Market) SetParameter(name, value string) {
	defer m.lock()()
	p := m.params[name]
	m.params[name] = Parameter{Name: name, Value: value, Version: p.Version + 1, Modified: m.at}
}

// Parameter reads the parameter store.
func (m *Market) Parameter(name string) (Parameter, error) {
	defer m.lock()()
	p, ok := m.params[name]
	if !ok {
		return Parameter{}, &Error{Code: ParameterNotFound}
	}
	return p, nil
}

// Parameters returns the whole parameter store, by name.
func (m *Market) Parameters() []Parameter {
	defer m.lock()()
	out := make([]Parameter, 0, len(m.params))
	for _, name := range slices.Sorted(maps.Keys(m.params)) {
		out = append(out, m.params[name])
	}
	return out
}

func noImage(id string) *Error {
	return Errorf(InvalidAMIIDNotFound, "The image id '[%s]' does not exist", id)
}
