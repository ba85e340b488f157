package market

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
)

// Allocation strategies of a fleet.
const (
	LowestPrice                  = "lowest-price"
	Prioritized                  = "prioritized"
	Diversified                  = "diversified"
	CapacityOptimized            = "capacity-optimized"
	CapacityOptimizedPrioritized = "capacity-optimized-prioritized"
	PriceCapacityOptimized       = "price-capacity-optimized"
)

// FleetRequest asks for machines from any of several pools.
type FleetRequest struct {
	Token            string
	Context          string
	Total            int
	OnDemandTarget   int
	SpotTarget       int
	DefaultType      string // on-demand, spot, capacity-block or reserved-capacity
	ReservationTypes []string
	OnDemandStrategy string
	SpotStrategy     string
	SpotPools        int // of lowest-price and diversified
	SpotMaxPrice     string
	UseReservations  bool // those of open reservations first
	Configs          []FleetConfig
	Tags             []TagSpec
}

// FleetConfig is a template with the pools it may be launched in.
type FleetConfig struct {
	Template  TemplateRef
	Overrides []Override
}

// Override replaces parts of a template and so names a pool.
type Override struct {
	Type      string
	Subnet    string
	Zone      string
	Image     string
	Priority  float64
	Ranked    bool // Priority was given
	MaxPrice  string
	Placement Placement
}

// FleetResult is what came of a fleet request.
type FleetResult struct {
	ID       string
	Launched []FleetInstances
	Errors   []FleetError
}

// FleetInstances are the machines of one pool.
type FleetInstances struct {
	Template     TemplateRef
	Override     Override
	CapacityType string
	Type         string
	Zone         string
	IDs          []string
}

// FleetError is why a pool gave nothing.
type FleetError struct {
	Template     TemplateRef
	Override     Override
	CapacityType string
	Code         string
	Message      string
}

type fleetRecord struct {
	at     time.Time
	result FleetResult
}

// pool is an override that could be resolved to a type, a subnet and an image.
type pool struct {
	config   int
	override Override
	launch   launch
	rank     int // position in the request
	price    money.Micro
	depth    int
	open     bool // an open reservation fits
}

// CheckFleet says why EC2 would refuse the whole request.
func (m *Market) CheckFleet(r FleetRequest) error {
	defer m.lock()()
	_, err := m.fleetTemplates(r)
	return err
}

// CreateFleet launches machines as an instant fleet does: it tries the pools in the order the strategy says
// and answers with what could be had and why the pools before gave nothing.
// The same token with the same request gives the same answer and launches nothing.
func (m *Market) CreateFleet(r FleetRequest) (FleetResult, error) {
	defer m.lock()()
	if err := m.checkToken("fleet", r.Token, r); err != nil {
		return FleetResult{}, err
	}
	if seen, ok := m.fleets[r.Token]; ok {
		return seen.result, nil
	}
	templates, err := m.fleetTemplates(r)
	if err != nil {
		return FleetResult{}, err
	}
	m.keepToken("fleet", r.Token, r)
	f := &fleet{m: m, r: r, templates: templates, result: FleetResult{ID: "fleet-" + m.uuid("fleet")}}
	f.fill(cmp.Or(r.DefaultType, OnDemand))
	if r.Token != "" {
		m.fleets[r.Token] = fleetRecord{at: m.at, result: f.result}
		m.forgetTokens()
	}
	return f.result, nil
}

type resolved struct {
	ref  TemplateRef
	data TemplateData
}

// fleetTemplates checks what is wrong with a request as a whole and finds its templates.
func (m *Market) fleetTemplates(r FleetRequest) ([]resolved, error) {
	if r.Total <= 0 {
		return nil, Errorf(InvalidParameterValue, "TotalTargetCapacity must be greater than 0.")
	}
	if r.OnDemandTarget+r.SpotTarget > r.Total {
		return nil, Errorf(InvalidParameterCombination, "The sum of OnDemandTargetCapacity and SpotTargetCapacity must not exceed TotalTargetCapacity.")
	}
	if len(r.Configs) == 0 {
		return nil, Errorf(MissingParameter, "The request must contain the parameter LaunchTemplateConfigs")
	}
	var out []resolved
	for _, c := range r.Configs {
		t, err := m.template(c.Template)
		if err != nil {
			return nil, err
		}
		v, err := t.Version(c.Template.Version)
		if err != nil {
			return nil, err
		}
		ref := TemplateRef{ID: t.ID, Name: t.Name, Version: fmt.Sprint(v.Number)}
		out = append(out, resolved{ref: ref, data: v.Data})
	}
	return out, nil
}

// fleet is one fleet request being filled.
type fleet struct {
	m         *Market
	r         FleetRequest
	templates []resolved
	result    FleetResult
}

// fill launches what was asked for, on-demand first, as EC2 does.
func (f *fleet) fill(rest string) {
	onDemand, spot := f.r.OnDemandTarget, f.r.SpotTarget
	left := f.r.Total - onDemand - spot
	switch rest {
	case Spot:
		spot += left
	default:
		onDemand += left
	}
	buy := OnDemand
	switch {
	case rest == CapacityBlock:
		buy = CapacityBlock
	case rest == "reserved-capacity" && slices.Equal(f.r.ReservationTypes, []string{Interruptible}):
		buy = Interruptible
	}
	if onDemand > 0 {
		f.take(f.pools(buy), onDemand)
	}
	if spot > 0 {
		f.take(f.pools(Spot), spot)
	}
}

// pools resolves the overrides and puts them in the order of the strategy.
func (f *fleet) pools(capacityType string) []pool {
	var out []pool
	rank := 0
	for c, config := range f.r.Configs {
		overrides := config.Overrides
		if len(overrides) == 0 {
			overrides = []Override{{}}
		}
		for _, o := range overrides {
			rank++
			p, err := f.resolve(c, o, capacityType)
			if err != nil {
				f.refuse(pool{config: c, override: o, launch: launch{capacityType: capacityType}}, err)
				continue
			}
			p.rank = rank
			out = append(out, p)
		}
	}
	if capacityType == Spot {
		sortSpot(out, f.r.SpotStrategy, f.r.Total)
		return out
	}
	sortOnDemand(out, f.r.OnDemandStrategy, f.r.UseReservations)
	return out
}

// resolve finds the type, subnet and image that an override means.
func (f *fleet) resolve(config int, o Override, capacityType string) (pool, *Error) {
	t := f.templates[config]
	data := t.data
	data.Image = cmp.Or(o.Image, data.Image)
	data.Type = cmp.Or(o.Type, data.Type)
	if o.Placement != (Placement{}) {
		data.Placement = o.Placement
	}
	typ := f.m.types[data.Type]
	if typ == nil {
		return pool{}, Errorf(InvalidParameterValue, "Invalid value '%s' for InstanceType.", data.Type)
	}
	image, ok := f.m.images[data.Image]
	if !ok {
		return pool{}, noImage(data.Image)
	}
	subnet, err := f.m.subnetFor(o.Subnet, o.Zone, data)
	if err != nil {
		return pool{}, err
	}
	p := pool{config: config, override: o, launch: launch{
		typ: typ, subnet: subnet, image: image, capacityType: capacityType, data: data, template: t.ref,
		fleet: f.result.ID, token: f.r.Token, tags: byKind(f.r.Tags), maxPrice: priceOf(cmp.Or(o.MaxPrice, f.r.SpotMaxPrice)),
	}}
	p.price = f.m.onDemandPrice(typ.Name)
	if capacityType == Spot {
		p.price = f.m.spotPrice(typ.Name, subnet.Zone)
		p.depth = f.m.depth(subnet.Zone, typ.Name)
	}
	for _, r := range f.m.reserved {
		if r.Match == "open" && r.State == "active" && r.Available > 0 && r.Type == typ.Name && r.Zone == subnet.Zone {
			p.open = true
		}
	}
	return p, nil
}

// subnetFor returns the subnet a launch goes to: the one named, or one in the zone, or the template's own.
func (m *Market) subnetFor(id, zone string, d TemplateData) (*Subnet, *Error) {
	if id == "" && len(d.Interfaces) > 0 {
		id = d.Interfaces[0].Subnet
	}
	if id != "" {
		s, ok := m.subnets[id]
		if !ok {
			return nil, noSubnet(id)
		}
		return s, nil
	}
	zone = m.zoneName(cmp.Or(zone, d.Placement.Zone))
	for _, key := range slices.Sorted(maps.Keys(m.subnets)) {
		if s := m.subnets[key]; zone == "" || s.Zone == zone {
			return s, nil
		}
	}
	return nil, Errorf("VPCIdNotSpecified", "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.")
}

// sortOnDemand orders pools as the on-demand strategy says; the default is the lowest price.
func sortOnDemand(p []pool, strategy string, reservationsFirst bool) {
	slices.SortStableFunc(p, func(a, b pool) int {
		if reservationsFirst && a.open != b.open {
			if a.open {
				return -1
			}
			return 1
		}
		if strategy == Prioritized {
			return byPriority(a, b)
		}
		return cmp.Or(cmp.Compare(sold(a.price), sold(b.price)), cmp.Compare(a.rank, b.rank))
	})
}

// sortSpot orders pools as the spot strategy says; the default is the lowest price.
func sortSpot(p []pool, strategy string, wanted int) {
	deep := func(a pool) int { // 0 for pools that are deep enough, so that among them price or priority decides
		if a.depth >= 10*wanted {
			return 0
		}
		return wanted - a.depth/10
	}
	slices.SortStableFunc(p, func(a, b pool) int {
		switch strategy {
		case CapacityOptimized:
			return cmp.Or(cmp.Compare(b.depth, a.depth), cmp.Compare(a.rank, b.rank))
		case CapacityOptimizedPrioritized:
			return cmp.Or(cmp.Compare(deep(a), deep(b)), byPriority(a, b))
		case PriceCapacityOptimized:
			return cmp.Or(cmp.Compare(deep(a), deep(b)), cmp.Compare(sold(a.price), sold(b.price)), cmp.Compare(a.rank, b.rank))
		default:
			return cmp.Or(cmp.Compare(sold(a.price), sold(b.price)), cmp.Compare(a.rank, b.rank))
		}
	})
}

// byPriority puts the lowest number first; those without one come last.
func byPriority(a, b pool) int {
	if a.override.Ranked != b.override.Ranked {
		if a.override.Ranked {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.override.Priority, b.override.Priority), cmp.Compare(a.rank, b.rank))
}

// sold puts pools without a price behind all others.
func sold(price money.Micro) money.Micro {
	if price == 0 {
		return 1 << 62
	}
	return price
}

// take launches up to n machines from pools, in order. The diversified strategy goes round them.
func (f *fleet) take(pools []pool, n int) {
	each := n
	spot := len(pools) > 0 && pools[0].launch.capacityType == Spot
	if spot && (f.r.SpotStrategy == Diversified || f.r.SpotPools > 1) {
		among := cmp.Or(f.r.SpotPools, len(pools))
		each = max((n+among-1)/among, 1)
	}
	for ; n > 0 && len(pools) > 0; each = n {
		var again []pool
		for _, p := range pools {
			got, err := f.launch(p, min(each, n))
			n -= got
			if err != nil {
				f.refuse(p, err)
			} else {
				again = append(again, p)
			}
			if n == 0 {
				return
			}
		}
		pools = again
	}
}

// launch makes up to n machines of one pool.
func (f *fleet) launch(p pool, n int) (int, *Error) {
	id := f.m.id("r")
	var ids []string
	var refused *Error
	for k := range n {
		l := p.launch
		l.id, l.index = id, k
		i, err := f.m.make(l)
		if err != nil {
			refused = err
			break
		}
		ids = append(ids, i.ID)
	}
	if len(ids) > 0 {
		f.launched(p, ids)
	}
	return len(ids), refused
}

func (f *fleet) launched(p pool, ids []string) {
	for k := range f.result.Launched {
		g := &f.result.Launched[k]
		if g.Template == p.launch.template && g.Override == p.override && g.CapacityType == p.launch.capacityType {
			g.IDs = append(g.IDs, ids...)
			return
		}
	}
	f.result.Launched = append(f.result.Launched, FleetInstances{
		Template: p.launch.template, Override: p.override, CapacityType: p.launch.capacityType,
		Type: p.launch.typ.Name, Zone: p.launch.subnet.Zone, IDs: ids,
	})
}

func (f *fleet) refuse(p pool, why *Error) {
	f.result.Errors = append(f.result.Errors, FleetError{
		Template: f.templates[p.config].ref, Override: p.override, CapacityType: p.launch.capacityType, Code: why.Code, Message: why.Message,
	})
}

// byKind joins tag specifications by the kind of resource they are for.
func byKind(specs []TagSpec) map[string]Tags {
	out := map[string]Tags{}
	for _, s := range specs {
		if out[s.Kind] == nil {
			out[s.Kind] = Tags{}
		}
		maps.Copy(out[s.Kind], s.Tags)
	}
	return out
}

// RunRequest asks for machines of one pool.
type RunRequest struct {
	Template TemplateRef  // may be empty
	Data     TemplateData // wins over the template
	Subnet   string
	Min, Max int
	Token    string
	Tags     []TagSpec
}

// CheckRun says why EC2 would refuse the request, without launching.
func (m *Market) CheckRun(r RunRequest) error {
	defer m.lock()()
	l, err := m.runLaunch(r)
	if err != nil {
		return err
	}
	if err := m.check(l); err != nil {
		return err
	}
	return nil
}

// RunInstances launches at least Min and at most Max machines, or none.
func (m *Market) RunInstances(r RunRequest) ([]Instance, error) {
	defer m.lock()()
	if err := m.checkToken("run", r.Token, r); err != nil {
		return nil, err
	}
	if same := m.byToken(r.Token); r.Token != "" && len(same) > 0 {
		return same, nil
	}
	l, err := m.runLaunch(r)
	if err != nil {
		return nil, err
	}
	if room := m.room(l.subnet.Zone, l.typ.Name, l.capacityType); room < r.Min {
		return nil, m.refusal(m.rule(l.subnet.Zone, l.typ.Name, l.capacityType), l)
	}
	var out []Instance
	l.id, l.token = m.id("r"), r.Token
	for l.index = range max(r.Max, 1) {
		i, err := m.make(l)
		if err != nil && l.index < max(r.Min, 1) {
			return nil, err
		}
		if err != nil {
			break
		}
		out = append(out, i.clone())
	}
	m.keepToken("run", r.Token, r)
	return out, nil
}

func (m *Market) byToken(token string) []Instance {
	var out []Instance
	for _, i := range m.instances {
		if i.Token == token && i.Fleet == "" {
			out = append(out, i.clone())
		}
	}
	slices.SortFunc(out, func(a, b Instance) int { return cmp.Or(a.Index-b.Index, strings.Compare(a.ID, b.ID)) })
	return out
}

func (m *Market) runLaunch(r RunRequest) (launch, error) {
	data, ref := r.Data, TemplateRef{}
	if r.Template.ID != "" || r.Template.Name != "" {
		t, err := m.template(r.Template)
		if err != nil {
			return launch{}, err
		}
		v, err := t.Version(r.Template.Version)
		if err != nil {
			return launch{}, err
		}
		data, ref = overlay(v.Data, r.Data), TemplateRef{ID: t.ID, Name: t.Name, Version: fmt.Sprint(v.Number)}
	}
	if data.Image == "" {
		return launch{}, Errorf(MissingParameter, "The request must contain the parameter ImageId")
	}
	image, ok := m.images[data.Image]
	if !ok {
		return launch{}, noImage(data.Image)
	}
	typ := m.types[cmp.Or(data.Type, "m1.small")]
	if typ == nil {
		return launch{}, Errorf(InvalidParameterValue, "Invalid value '%s' for InstanceType.", data.Type)
	}
	if err := checkUserData(data.UserData); err != nil {
		return launch{}, err
	}
	subnet, refused := m.subnetFor(r.Subnet, "", data)
	if refused != nil {
		return launch{}, refused
	}
	return launch{
		typ: typ, subnet: subnet, image: image, capacityType: cmp.Or(data.Market.Kind, OnDemand), data: data, template: ref,
		tags: byKind(r.Tags), maxPrice: priceOf(data.Market.MaxPrice),
	}, nil
}

// overlay puts what a call says over what its template says.
func overlay(base, over TemplateData) TemplateData {
	base.Image = cmp.Or(over.Image, base.Image)
	base.Type = cmp.Or(over.Type, base.Type)
	base.Key = cmp.Or(over.Key, base.Key)
	base.UserData = cmp.Or(over.UserData, base.UserData)
	base.ProfileName = cmp.Or(over.ProfileName, base.ProfileName)
	base.ProfileARN = cmp.Or(over.ProfileARN, base.ProfileARN)
	base.Market = cmp.Or(over.Market, base.Market)
	base.Placement = cmp.Or(over.Placement, base.Placement)
	base.Metadata = cmp.Or(over.Metadata, base.Metadata)
	if len(over.Groups) > 0 {
		base.Groups = over.Groups
	}
	if len(over.Interfaces) > 0 {
		base.Interfaces = over.Interfaces
	}
	if len(over.Devices) > 0 {
		base.Devices = over.Devices
	}
	base.Tags = append(slices.Clone(base.Tags), over.Tags...)
	return base
}
