package market

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Template is a launch template with all its versions.
type Template struct {
	ID       string
	Name     string
	Created  time.Time
	By       string
	Default  int64
	Versions []TemplateVersion // oldest first; numbers start at 1
	Tags     Tags

	token string
}

// TemplateVersion is one version of a launch template.
type TemplateVersion struct {
	Number      int64
	Created     time.Time
	By          string
	Description string
	Data        TemplateData
}

// TemplateData is how a machine is to be launched. Pointers are nil where nothing was said.
type TemplateData struct {
	Image        string
	Type         string
	Key          string
	ProfileName  string
	ProfileARN   string
	UserData     string // base64, as given
	Groups       []string
	GroupNames   []string
	Interfaces   []InterfaceSpec
	Devices      []Device
	Metadata     *MetadataOptions
	Monitoring   *bool
	EBSOptimized *bool
	Protected    *bool // against termination through the API
	Shutdown     string
	Credits      string
	AutoRecovery string
	Market       MarketOptions
	Reservation  ReservationSpec
	Placement    Placement
	CPU          *CPUOptions
	Enclaves     *bool
	DNS          *DNSOptions
	Tags         []TagSpec
}

// TagSpec is a set of tags for one kind of resource that a call makes.
type TagSpec struct {
	Kind string
	Tags Tags
}

// InterfaceSpec asks for a network interface.
type InterfaceSpec struct {
	Device       *int
	Card         *int
	Kind         string // interface, efa, efa-only
	Subnet       string
	Groups       []string
	Description  string
	PublicIP     *bool
	Delete       *bool
	PrimaryIPv6  *bool
	IPv6Count    *int
	PrefixCount  *int
	Prefix6Count *int
	Tracking     *Tracking
}

// Tracking holds the idle timeouts of a network interface's connections, in seconds.
type Tracking struct {
	TCP       *int
	UDPStream *int
	UDP       *int
}

// Device asks for a volume.
type Device struct {
	Name        string
	Virtual     string
	SizeGiB     *int
	Kind        string
	IOPS        *int
	Throughput  *int
	InitRate    *int
	Encrypted   *bool
	Delete      *bool
	KMSKey      string
	Snapshot    string
	Suppressed  bool
	HasNoVolume bool
}

// MetadataOptions configure the instance metadata service.
type MetadataOptions struct {
	Endpoint string
	IPv6     string
	HopLimit *int
	Tokens   string
	Tags     string
}

// MarketOptions ask for another way of buying than on-demand.
type MarketOptions struct {
	Kind         string // spot, capacity-block, interruptible-capacity-reservation or empty
	MaxPrice     string
	Interruption string
	SpotType     string
}

// ReservationSpec says which capacity reservation to use.
type ReservationSpec struct {
	Preference string // open, none, capacity-reservations-only
	ID         string
	GroupARN   string
}

// Placement says where a machine may stand.
type Placement struct {
	Zone      string
	GroupName string
	GroupID   string
	Partition int
	Tenancy   string
}

// CPUOptions change how a machine's processors are shown.
type CPUOptions struct {
	Cores          *int
	ThreadsPerCore *int
	Nested         string
	AMDSEVSNP      string
}

// DNSOptions say how a machine's host name is made.
type DNSOptions struct {
	HostnameType string
	ARecord      *bool
	AAAARecord   *bool
}

// TemplateRef names a template and a version: a number, "$Latest", "$Default" or nothing.
type TemplateRef struct {
	ID      string
	Name    string
	Version string
}

// maxUserData is what EC2 takes, before base64.
const maxUserData = 16384

var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

// NewTemplate is a request for a launch template.
type NewTemplate struct {
	Name        string
	Description string
	Token       string
	By          string
	Data        TemplateData
	Tags        Tags
}

// CheckTemplate says why EC2 would refuse the request, for a dry run.
func (m *Market) CheckTemplate(r NewTemplate) error {
	defer m.lock()()
	return m.checkTemplate(r)
}

func (m *Market) checkTemplate(r NewTemplate) error {
	if r.Name == "" {
		return Errorf(MissingParameter, "The request must contain the parameter LaunchTemplateName")
	}
	if !templateName.MatchString(r.Name) {
		return Errorf(InvalidLaunchTemplateNameMalformed,
			"A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _.")
	}
	if err := checkUserData(r.Data.UserData); err != nil {
		return err
	}
	if m.templateByName(r.Name) != nil {
		return Errorf(InvalidLaunchTemplateNameExists, "Launch template name already in use.")
	}
	return nil
}

func checkUserData(encoded string) error {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(raw) > maxUserData {
		return Errorf(InvalidParameterValue, "User data is limited to %d bytes", maxUserData)
	}
	return nil
}

// CreateTemplate makes a launch template with one version.
func (m *Market) CreateTemplate(r NewTemplate) (Template, error) {
	defer m.lock()()
	if err := m.checkToken("template", r.Token, r); err != nil {
		return Template{}, err
	}
	if t := m.templateByName(r.Name); t != nil && r.Token != "" && t.token == r.Token {
		return t.clone(), nil
	}
	if err := m.checkTemplate(r); err != nil {
		return Template{}, err
	}
	t := &Template{
		ID: m.id("lt"), Name: r.Name, Created: m.at, By: r.By, Default: 1, Tags: maps.Clone(r.Tags), token: r.Token,
		Versions: []TemplateVersion{{Number: 1, Created: m.at, By: r.By, Description: r.Description, Data: r.Data}},
	}
	m.templates[t.ID] = t
	m.keepToken("template", r.Token, r)
	return t.clone(), nil
}

// AddTemplateVersion makes a further version of a template.
func (m *Market) AddTemplateVersion(ref TemplateRef, r NewTemplate) (Template, TemplateVersion, error) {
	defer m.lock()()
	t, err := m.template(ref)
	if err != nil {
		return Template{}, TemplateVersion{}, err
	}
	if err := checkUserData(r.Data.UserData); err != nil {
		return Template{}, TemplateVersion{}, err
	}
	v := TemplateVersion{
		Number: t.Versions[len(t.Versions)-1].Number + 1, Created: m.at, By: r.By, Description: r.Description, Data: r.Data,
	}
	t.Versions = append(t.Versions, v)
	return t.clone(), v, nil
}

// DeleteTemplate removes a template and returns what it was.
func (m *Market) DeleteTemplate(ref TemplateRef) (Template, error) {
	defer m.lock()()
	t, err := m.template(ref)
	if err != nil {
		return Template{}, err
	}
	delete(m.templates, t.ID)
	return t.clone(), nil
}

// Templates returns all launch templates, by id.
func (m *Market) Templates() []Template {
	defer m.lock()()
	out := sorted(m.templates)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Template returns the template a reference names.
func (m *Market) Template(ref TemplateRef) (Template, error) {
	defer m.lock()()
	t, err := m.template(ref)
	if err != nil {
		return Template{}, err
	}
	return t.clone(), nil
}

// Latest returns the newest version of a template.
func (t Template) Latest() TemplateVersion { return t.Versions[len(t.Versions)-1] }

// Version returns the version that text names: a number, "$Latest", "$Default" or nothing, which means the default.
func (t Template) Version(text string) (TemplateVersion, error) {
	number := t.Default
	switch text {
	case "$Latest":
		return t.Latest(), nil
	case "", "$Default":
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return TemplateVersion{}, Errorf("InvalidLaunchTemplateId.VersionMalformed", "The launch template version %s is malformed.", text)
		}
		number = n
	}
	for _, v := range t.Versions {
		if v.Number == number {
			return v, nil
		}
	}
	return TemplateVersion{}, Errorf(InvalidLaunchTemplateVersion,
		"Could not find the specified version %s for the launch template with ID %s.", text, t.ID)
}

func (t *Template) clone() Template {
	out := *t
	out.Tags = maps.Clone(t.Tags)
	out.Versions = slices.Clone(t.Versions)
	return out
}

func (m *Market) templateByName(name string) *Template {
	for _, t := range m.templates {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// template finds what a reference names. The market is locked.
func (m *Market) template(ref TemplateRef) (*Template, error) {
	switch {
	case ref.ID != "":
		if t, ok := m.templates[ref.ID]; ok {
			return t, nil
		}
		return nil, Errorf(InvalidLaunchTemplateIDNotFound, "The specified launch template, with template ID %s, does not exist.", ref.ID)
	case ref.Name != "":
		if t := m.templateByName(ref.Name); t != nil {
			return t, nil
		}
		return nil, Errorf(InvalidLaunchTemplateNameNotFound, "The specified launch template, with template name %s, does not exist.", ref.Name)
	default:
		return nil, Errorf(MissingParameter, "Either a launch template ID or a launch template name must be specified in the request")
	}
}

// tagsFor returns the tags a template gives to one kind of resource.
func tagsFor(specs []TagSpec, kind string) Tags {
	out := Tags{}
	for _, s := range specs {
		if s.Kind == kind {
			maps.Copy(out, s.Tags)
		}
	}
	return out
}

// networkGroups returns the security groups a machine of this template gets, wherever they are written.
func (d TemplateData) networkGroups() []string {
	if len(d.Interfaces) > 0 && len(d.Groups) == 0 {
		return d.Interfaces[0].Groups
	}
	return d.Groups
}
