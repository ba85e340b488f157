package fault

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Panel is what the control interface acts on.
type Panel struct {
	Market *market.Market
	Rules  *Rules
	Queue  string              // where messages go
	Calls  map[string][]string // the actions that are answered, by service
}

// verb is one thing that can be done over HTTP.
type verb struct {
	method string
	path   string
	says   string // what it does, with its body
	do     func(Panel, *http.Request) (any, error)
}

// Handler returns the control interface: JSON in and out, under a prefix such as "/_tenon/".
// A GET on the prefix itself lists what there is.
func Handler(prefix string, p Panel) http.Handler {
	all := append(looks(), acts()...)
	mux := http.NewServeMux()
	for _, v := range all {
		mux.HandleFunc(v.method+" "+prefix+v.path, func(w http.ResponseWriter, r *http.Request) {
			out, err := v.do(p, r)
			write(w, out, err)
		})
	}
	mux.HandleFunc("GET "+prefix+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		var help []map[string]string
		for _, v := range all {
			help = append(help, map[string]string{"call": v.method + " " + prefix + v.path, "does": v.says})
		}
		write(w, help, nil)
	})
	return mux
}

// looks is what can be seen.
func looks() []verb {
	return []verb{
		{"GET", "state", "the account at a glance: machines by state, rules, quotas of faults, messages waiting", state},
		{"GET", "instances", "every machine, terminated ones for a while", func(p Panel, _ *http.Request) (any, error) { return machines(p), nil }},
		{"GET", "calls", "recorded calls; ?after=<seq> only later ones, ?service= and ?action= only those", calls},
		{"GET", "counts", "how often each call was made", func(p Panel, _ *http.Request) (any, error) { return p.Market.Counts(), nil }},
		{"GET", "reservations", "capacity reservations, and how many machines are left of each", reservations},
		{"GET", "faults", "rules for calls in force", func(p Panel, _ *http.Request) (any, error) { return list(p.Rules.List()), nil }},
	}
}

// acts is what can be done.
func acts() []verb {
	return []verb{
		{"POST", "capacity", `so many machines are left of the pools that match: {"zone","type","capacityType","left","code","message"}; empty fields match all`, setCapacity},
		{"DELETE", "capacity", `pools are endless again: {"zone","type","capacityType"}; {} for all`, clearCapacity},
		{"POST", "price", `a price: {"zone","type","capacityType","price" in dollars, or "factor"}; factor 1 ends it`, setPrice},
		{"POST", "quota", `a quota of vCPUs: {"bucket": "standard" or "spot-standard" …, "vcpus"}; negative lifts it`, setQuota},
		{"POST", "reservation", `capacity is reserved: {"type","zone","count","tag": "name=value","minutes" until its end,"targeted": true for those that ask for it,"block": true for a capacity block}`, reserve},
		{"DELETE", "reservation", "cancels a reservation; its machines live on: ?id=<id>", cancelReservation},
		{"POST", "interrupt", `something happens to a machine: {"instance", "kind": "spot" (default), "rebalance", "scheduled" or "reservation"}`, interrupt},
		{"POST", "kill", `a machine is gone at once and without notice: {"instance"}`, kill},
		{"POST", "impair", `status checks of a machine fail: {"instance", "check": "instance", "system" or "none"}`, impair},
		{"POST", "faults", `a rule for calls: {"service","action","caller","kind": throttle, deny, expire, fail, lose, drop or delay,"code","message","skip": calls that pass first,"times": calls it disturbs,"seconds": how long it is in force, of a delay its length}`, addFault},
		{"DELETE", "faults", "lifts a rule: ?id=<id>; without id all", removeFault},
		{"POST", "limit", `how often a call may be made: {"call": "ec2:CreateFleet","burst","rate"}; zeros lift the limit`, setLimit},
		{"POST", "release", `new node images: {"kubernetes": "1.34", "family": "AL2023" or empty for all}`, release},
		{"POST", "subnet", `addresses left in a subnet: {"subnet","free"}`, setSubnet},
		{"POST", "zone", `a zonal shift away from a zone: {"zone","minutes"}; 0 ends it`, shiftZone},
		{"POST", "spotrole", `the service-linked role for spot: {"missing": true or false}`, spotRole},
		{"POST", "message", `a message in the interruption queue: {"body"}`, message},
		{"POST", "reset", "lifts all rules for calls, capacity and prices of pools", reset},
	}
}

func state(p Panel, _ *http.Request) (any, error) {
	byState := map[market.State]int{}
	for _, i := range p.Market.Instances() {
		byState[i.State]++
	}
	visible, hidden, err := p.Market.Depth(p.Queue)
	out := map[string]any{
		"region": p.Market.Region(), "account": p.Market.Account(), "time": p.Market.Now().UTC().Format(time.RFC3339),
		"instances": byState, "capacity": p.Market.Rules(), "faults": list(p.Rules.List()), "shifted": p.Market.Shifted(),
	}
	if err == nil {
		out["queue"] = map[string]int{"visible": visible, "hidden": hidden}
	}
	return out, nil
}

// machine is an instance as the control interface shows it.
type machine struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"`
	Zone         string            `json:"zone"`
	CapacityType string            `json:"capacityType"`
	State        market.State      `json:"state"`
	Reason       string            `json:"reason,omitempty"`
	DNS          string            `json:"dns"`
	Image        string            `json:"image"`
	Template     string            `json:"template,omitempty"`
	Launched     time.Time         `json:"launched"`
	Price        string            `json:"price"` // dollars per hour
	Tags         map[string]string `json:"tags"`
}

func machines(p Panel) []machine {
	out := []machine{}
	for _, i := range p.Market.Instances() {
		out = append(out, machine{
			ID: i.ID, Type: i.Type, Zone: i.Zone, CapacityType: i.CapacityType, State: i.State, Reason: i.Reason.Code, DNS: i.DNS, Image: i.Image,
			Template: i.Template.Name, Launched: i.Launched, Price: i.Price.Decimal(), Tags: i.Tags,
		})
	}
	return out
}

func calls(p Panel, r *http.Request) (any, error) {
	after := int64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		after = n
	}
	out := []market.Call{}
	for _, c := range p.Market.Calls(after) {
		if glob(r.URL.Query().Get("service"), c.Service) && glob(r.URL.Query().Get("action"), c.Action) {
			out = append(out, c)
		}
	}
	return out, nil
}

// pools names the pools that a request is about.
type pools struct {
	Zone         string  `json:"zone"`
	Type         string  `json:"type"`
	CapacityType string  `json:"capacityType"`
	Left         *int    `json:"left"`
	Code         string  `json:"code"`
	Message      string  `json:"message"`
	Price        float64 `json:"price"`
	Factor       float64 `json:"factor"`
}

// check refuses names that are none of the market's: what is done to pools that are not sold does nothing.
func (in pools) check(m *market.Market) error {
	return cmp.Or(
		oneOf("type", in.Type, types(m), "`tenon types` lists them"),
		oneOf("zone", in.Zone, zones(m), ""),
		oneOf("capacityType", in.CapacityType, []string{"on-demand", "spot"}, ""),
	)
}

// types are the names of what a market sells.
func types(m *market.Market) []string {
	var all []string
	for _, t := range m.Types() {
		all = append(all, t.Name)
	}
	return all
}

// zones are the names of a market's zones.
func zones(m *market.Market) []string {
	var all []string
	for _, z := range m.Zones() {
		all = append(all, z.Name)
	}
	return all
}

// oneOf refuses a value of a field that is none of those there are, with the one that was meant, or with all. Many are
// not written out: lists says where they can be seen. Empty is any of them.
func oneOf(field, value string, known []string, lists string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	if meant := label.Meant(value, known); meant != "" {
		return fmt.Errorf("%s: there is no %q here: did you mean %q?", field, value, meant)
	}
	if lists != "" {
		return fmt.Errorf("%s: there is no %q here; %s", field, value, lists)
	}
	return fmt.Errorf("%s: there is no %q here: it is one of %s", field, value, strings.Join(known, ", "))
}

func setCapacity(p Panel, r *http.Request) (any, error) {
	in, err := read[pools](r)
	if err == nil {
		err = in.check(p.Market)
	}
	switch {
	case err != nil:
		return nil, err
	case in.Left == nil || *in.Left < 0:
		return nil, errors.New("say left=NUMBER: how many machines are left of the pools that match; 0 sells them out, and `--lift` makes them endless again")
	}
	p.Market.SetCapacity(market.Capacity{Zone: in.Zone, Type: in.Type, CapacityType: in.CapacityType, Left: *in.Left, Code: in.Code, Message: in.Message})
	return nil, nil
}

func clearCapacity(p Panel, r *http.Request) (any, error) {
	in, err := read[pools](r)
	if err == nil {
		err = in.check(p.Market)
	}
	if err != nil {
		return nil, err
	}
	p.Market.ClearCapacity(market.Capacity{Zone: in.Zone, Type: in.Type, CapacityType: in.CapacityType})
	return nil, nil
}

func setPrice(p Panel, r *http.Request) (any, error) {
	in, err := read[pools](r)
	if err == nil {
		err = in.check(p.Market)
	}
	price, ok := money.Of(in.Price)
	switch {
	case err != nil:
		return nil, err
	case !ok || in.Factor < 0 || in.Price == 0 && in.Factor == 0:
		return nil, errors.New("say price=DOLLARS, or factor=TIMES, of which 1 ends it")
	}
	p.Market.SetPrice(market.PriceRule{
		Zone: in.Zone, Type: in.Type, CapacityType: in.CapacityType, Price: price, Factor: in.Factor,
	})
	return nil, nil
}

func setQuota(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Bucket market.Bucket `json:"bucket"`
		VCPUs  *int          `json:"vcpus"`
	}](r)
	if err == nil {
		err = oneOf("bucket", string(in.Bucket), buckets(p.Market), "")
	}
	switch {
	case err != nil:
		return nil, err
	case in.Bucket == "" || in.VCPUs == nil:
		return nil, fmt.Errorf("say bucket=NAME and vcpus=NUMBER, of which -1 lifts the quota; buckets are %s", strings.Join(buckets(p.Market), ", "))
	}
	p.Market.SetQuota(in.Bucket, *in.VCPUs)
	return nil, nil
}

// buckets are the quotas that the types of a market count against.
func buckets(m *market.Market) []string {
	there := map[string]bool{}
	for _, t := range m.Types() {
		there[string(t.Bucket())], there[string(t.Bucket().Spot())] = true, true
	}
	return slices.Sorted(maps.Keys(there))
}

// target names the machine that a request is about.
type target struct {
	Instance string `json:"instance"`
	Kind     string `json:"kind"`
	Check    string `json:"check"`
}

// aimed returns what a request about one machine says. Without the machine it is refused.
func aimed(r *http.Request) (target, error) {
	in, err := read[target](r)
	if err == nil && in.Instance == "" {
		err = errors.New("say which machine: instance=ID; `instances` lists them")
	}
	return in, err
}

func interrupt(p Panel, r *http.Request) (any, error) {
	in, err := aimed(r)
	if err != nil {
		return nil, err
	}
	switch in.Kind {
	case "", "spot":
		return nil, p.Market.Interrupt(in.Instance)
	case "rebalance":
		return nil, p.Market.Rebalance(in.Instance)
	case "reservation":
		return nil, p.Market.InterruptReservation(in.Instance)
	case "scheduled":
		at := p.Market.Now().Add(time.Hour)
		return nil, p.Market.Schedule(in.Instance, market.ScheduledEvent{
			Code: "instance-retirement", Description: "The instance is running on degraded hardware", NotBefore: at, NotAfter: at.Add(2 * time.Hour),
		})
	default:
		return nil, errors.New(`kind must be "spot", "rebalance", "scheduled" or "reservation", not "` + in.Kind + `"`)
	}
}

func kill(p Panel, r *http.Request) (any, error) {
	in, err := aimed(r)
	if err != nil {
		return nil, err
	}
	return nil, p.Market.Kill(in.Instance)
}

func impair(p Panel, r *http.Request) (any, error) {
	in, err := aimed(r)
	if err != nil {
		return nil, err
	}
	if err := oneOf("check", in.Check, []string{"instance", "system", "none"}, ""); err != nil {
		return nil, err
	}
	if in.Check == "" {
		return nil, errors.New("say which status check fails: check=instance or check=system; check=none mends both")
	}
	return nil, p.Market.Impair(in.Instance, in.Check == "instance", in.Check == "system")
}

func addFault(p Panel, r *http.Request) (any, error) {
	in, err := read[Rule](r)
	if err != nil {
		return nil, err
	}
	if err := p.answers(in.Service, in.Action); err != nil {
		return nil, err
	}
	if in.Seconds < 0 || in.Skip < 0 || in.Times < 0 {
		return nil, errors.New("seconds, skip and times cannot be below 0; without seconds or times a rule holds until it is lifted")
	}
	switch in.Kind {
	case Throttle, Deny, Expire, Fail, Lose, Drop, Delay:
		return p.Rules.Add(in), nil
	default:
		return nil, errors.New(`kind must be throttle, deny, expire, fail, lose, drop or delay, not "` + string(in.Kind) + `"`)
	}
}

// answers refuses patterns of a service and of an action that no call can match: such a rule would wait for ever.
func (p Panel) answers(service, action string) error {
	var services, actions []string
	for _, name := range slices.Sorted(maps.Keys(p.Calls)) {
		services = append(services, name)
		if glob(service, name) {
			actions = append(actions, p.Calls[name]...)
		}
	}
	if len(actions) == 0 {
		return oneOf("service", service, services, "")
	}
	slices.Sort(actions)
	if slices.ContainsFunc(actions, func(a string) bool { return glob(action, a) }) {
		return nil
	}
	if meant := label.Meant(action, actions); meant != "" {
		return fmt.Errorf("action: no %q is ever called: did you mean %q?", action, meant)
	}
	return fmt.Errorf("action: no %q is ever called; with * for any letters it may be several of %s", action, strings.Join(actions, ", "))
}

func removeFault(p Panel, r *http.Request) (any, error) {
	id := 0
	if text := r.URL.Query().Get("id"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("id=%s: it is the number of a rule, as `faults` lists them; without id all rules are lifted", text)
		}
		id = n
	}
	if !p.Rules.Remove(id) && id != 0 {
		return nil, fmt.Errorf("id=%d: no such rule is in force; `faults` lists those that are", id)
	}
	return nil, nil
}

func setLimit(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Call  string  `json:"call"`
		Burst float64 `json:"burst"`
		Rate  float64 `json:"rate"`
	}](r)
	if err != nil {
		return nil, err
	}
	service, action, both := strings.Cut(in.Call, ":")
	if !both {
		return nil, errors.New(`say call=SERVICE:ACTION, such as call=ec2:CreateFleet, or call=ec2:* for those of a service that have no limit of their own`)
	}
	if err := p.answers(service, action); err != nil {
		return nil, err
	}
	p.Market.SetLimit(in.Call, market.Limit{Burst: in.Burst, Rate: in.Rate})
	return nil, nil
}

func release(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Kubernetes string `json:"kubernetes"`
		Family     string `json:"family"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Kubernetes == "" {
		for _, c := range p.Market.Clusters() {
			in.Kubernetes = c.Version
		}
	}
	out := map[string]string{}
	for _, i := range p.Market.Publish(market.Release{Kubernetes: in.Kubernetes, Family: in.Family}) {
		out[i.Name] = i.ID
	}
	if len(out) == 0 {
		return nil, errors.New(`no images of family "` + in.Family + `": it must be AL2, AL2023, Bottlerocket, Windows, Ubuntu or empty`)
	}
	return out, nil
}

func setSubnet(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Subnet string `json:"subnet"`
		Free   *int   `json:"free"`
	}](r)
	switch {
	case err != nil:
		return nil, err
	case in.Free == nil || *in.Free < 0:
		return nil, errors.New("say free=NUMBER: how many addresses are left in the subnet")
	}
	return nil, p.Market.SetFreeAddresses(in.Subnet, *in.Free)
}

func shiftZone(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Zone    string   `json:"zone"`
		Minutes *float64 `json:"minutes"`
	}](r)
	if err == nil {
		err = oneOf("zone", in.Zone, zones(p.Market), "")
	}
	switch {
	case err != nil:
		return nil, err
	case in.Zone == "" || in.Minutes == nil:
		return nil, fmt.Errorf("say zone=NAME and minutes=NUMBER, of which 0 ends the shift; zones are %s", strings.Join(zones(p.Market), ", "))
	}
	until := time.Time{}
	if *in.Minutes > 0 {
		until = p.Market.Now().Add(time.Duration(*in.Minutes * float64(time.Minute)))
	}
	p.Market.ShiftZone(in.Zone, until)
	return nil, nil
}

func spotRole(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Missing bool `json:"missing"`
	}](r)
	if err != nil {
		return nil, err
	}
	p.Market.ForbidSpotRole(in.Missing)
	return nil, nil
}

func message(p Panel, r *http.Request) (any, error) {
	in, err := read[struct {
		Body string `json:"body"`
	}](r)
	if err != nil {
		return nil, err
	}
	if in.Body == "" {
		return nil, errors.New("say what the message is: body=TEXT")
	}
	id, err := p.Market.Send(p.Queue, in.Body)
	return map[string]string{"id": id}, err
}

func reset(p Panel, _ *http.Request) (any, error) {
	p.Rules.Remove(0)
	p.Market.ClearCapacity(market.Capacity{})
	p.Market.ClearPrices()
	return nil, nil
}

// list makes an empty list of none, so that JSON shows [] and not null.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
