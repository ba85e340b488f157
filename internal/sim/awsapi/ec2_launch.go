package awsapi

import (
	"slices"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

type fleetInput struct {
	ClientToken                 string
	Context                     string
	Type                        string
	DryRun                      bool
	LaunchTemplateConfigs       []fleetConfig
	TargetCapacitySpecification struct {
		TotalTargetCapacity       int
		OnDemandTargetCapacity    int
		SpotTargetCapacity        int
		DefaultTargetCapacityType string
	}
	OnDemandOptions struct {
		AllocationStrategy         string
		CapacityReservationOptions struct{ UsageStrategy string }
	}
	SpotOptions struct {
		AllocationStrategy           string
		InstanceInterruptionBehavior string
		InstancePoolsToUseCount      int
		MaxTotalPrice                string
	}
	ReservedCapacityOptions struct{ ReservationType []string }
	TagSpecification        []tagSpecification
}

type fleetConfig struct {
	LaunchTemplateSpecification struct {
		LaunchTemplateId   string
		LaunchTemplateName string
		Version            string
	}
	Overrides []struct {
		InstanceType       string
		SubnetId           string
		AvailabilityZone   string
		AvailabilityZoneId string
		ImageId            string
		Priority           *float64
		MaxPrice           string
		WeightedCapacity   float64
		Placement          placement
	}
}

// Limits of one CreateFleet request.
const (
	maxFleetConfigs   = 50
	maxFleetOverrides = 300
)

func (in fleetInput) check() error {
	if s := in.OnDemandOptions.AllocationStrategy; !slices.Contains([]string{"", market.LowestPrice, market.Prioritized}, s) {
		return invalid(s, "OnDemandOptions.AllocationStrategy")
	}
	if s := in.SpotOptions.AllocationStrategy; !slices.Contains([]string{
		"", market.LowestPrice, market.Diversified, market.CapacityOptimized, market.CapacityOptimizedPrioritized, market.PriceCapacityOptimized,
	}, s) {
		return invalid(s, "SpotOptions.AllocationStrategy")
	}
	if in.Type != "instant" {
		return market.Errorf("UnsupportedOperation", "The fleet type %q is not supported in this account. Use instant.", in.Type)
	}
	overrides := 0
	for _, c := range in.LaunchTemplateConfigs {
		overrides += len(c.Overrides)
		for _, o := range c.Overrides {
			if o.WeightedCapacity != 0 && o.WeightedCapacity != 1 {
				return market.Errorf("UnsupportedOperation", "Weighted capacity is not supported in this account.")
			}
		}
	}
	if len(in.LaunchTemplateConfigs) > maxFleetConfigs || overrides > maxFleetOverrides {
		return market.Errorf(market.InvalidParameterValue, "A fleet request may have up to %d launch template configurations and %d overrides, this one has %d and %d.",
			maxFleetConfigs, maxFleetOverrides, len(in.LaunchTemplateConfigs), overrides)
	}
	return nil
}

func (in fleetInput) model() market.FleetRequest {
	r := market.FleetRequest{
		Token: in.ClientToken, Context: in.Context, Total: in.TargetCapacitySpecification.TotalTargetCapacity,
		OnDemandTarget: in.TargetCapacitySpecification.OnDemandTargetCapacity, SpotTarget: in.TargetCapacitySpecification.SpotTargetCapacity,
		DefaultType: in.TargetCapacitySpecification.DefaultTargetCapacityType, OnDemandStrategy: in.OnDemandOptions.AllocationStrategy,
		SpotStrategy: in.SpotOptions.AllocationStrategy, SpotPools: in.SpotOptions.InstancePoolsToUseCount,
		ReservationTypes: in.ReservedCapacityOptions.ReservationType,
		UseReservations:  in.OnDemandOptions.CapacityReservationOptions.UsageStrategy == "use-capacity-reservations-first",
		Tags:             specsOf(in.TagSpecification),
	}
	for _, c := range in.LaunchTemplateConfigs {
		s := c.LaunchTemplateSpecification
		config := market.FleetConfig{Template: market.TemplateRef{ID: s.LaunchTemplateId, Name: s.LaunchTemplateName, Version: s.Version}}
		for _, o := range c.Overrides {
			over := market.Override{
				Type: o.InstanceType, Subnet: o.SubnetId, Zone: o.AvailabilityZone + o.AvailabilityZoneId, Image: o.ImageId,
				MaxPrice: o.MaxPrice, Placement: o.Placement.model(),
			}
			if o.Priority != nil {
				over.Ranked, over.Priority = true, *o.Priority
			}
			config.Overrides = append(config.Overrides, over)
		}
		r.Configs = append(r.Configs, config)
	}
	return r
}

func createFleet(c *call) ([]node, error) {
	var in fleetInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	r := in.model()
	for _, s := range r.Tags {
		if err := reservedTag(s.Tags); err != nil {
			return nil, err
		}
	}
	if in.DryRun {
		if err := c.market.CheckFleet(r); err != nil {
			return nil, err
		}
		return nil, dryRun()
	}
	got, err := c.market.CreateFleet(r)
	if err != nil {
		return nil, err
	}
	return []node{
		txt("fleetId", got.ID),
		list("errorSet", got.Errors, func(e market.FleetError) []node {
			return []node{
				txt("errorCode", e.Code), txt("errorMessage", e.Message), txt("lifecycle", lifecycle(e.CapacityType)), overrideNodes(e.Template, e.Override),
			}
		}),
		list("fleetInstanceSet", got.Launched, func(i market.FleetInstances) []node {
			return []node{
				txt("instanceType", i.Type), txt("lifecycle", lifecycle(i.CapacityType)), texts("instanceIds", i.IDs), overrideNodes(i.Template, i.Override),
			}
		}),
	}, nil
}

// lifecycle is how fleets call the way a machine is bought.
func lifecycle(capacityType string) string {
	if capacityType == market.Spot {
		return market.Spot
	}
	return market.OnDemand
}

func overrideNodes(t market.TemplateRef, o market.Override) node {
	priority := node{}
	if o.Ranked {
		priority = decimal("priority", o.Priority)
	}
	return el("launchTemplateAndOverrides",
		el("launchTemplateSpecification", txt("launchTemplateId", t.ID), txt("launchTemplateName", t.Name), txt("version", t.Version)),
		el("overrides", txt("instanceType", o.Type), txt("subnetId", o.Subnet), txt("availabilityZone", o.Zone), txt("imageId", o.Image),
			priority, txt("maxPrice", o.MaxPrice)),
	)
}

func runInstances(c *call) ([]node, error) {
	var in struct {
		launchData
		LaunchTemplate struct {
			LaunchTemplateId   string
			LaunchTemplateName string
			Version            string
		}
		SubnetId    string
		MinCount    int
		MaxCount    int
		ClientToken string
		DryRun      bool
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.MinCount < 1 || in.MaxCount < in.MinCount {
		return nil, market.Errorf(market.InvalidParameterValue, "Invalid value '%d' for MinCount and '%d' for MaxCount.", in.MinCount, in.MaxCount)
	}
	data := in.model()
	tags := data.Tags
	data.Tags = nil
	r := market.RunRequest{
		Template: market.TemplateRef{ID: in.LaunchTemplate.LaunchTemplateId, Name: in.LaunchTemplate.LaunchTemplateName, Version: in.LaunchTemplate.Version},
		Data:     data, Subnet: in.SubnetId, Min: in.MinCount, Max: in.MaxCount, Token: in.ClientToken, Tags: tags,
	}
	if in.DryRun {
		if err := c.market.CheckRun(r); err != nil {
			return nil, err
		}
		return nil, dryRun()
	}
	got, err := c.market.RunInstances(r)
	if err != nil {
		return nil, err
	}
	return reservationNodes(c, got), nil
}

func terminateInstances(c *call) ([]node, error) {
	var in struct {
		InstanceId []string
		DryRun     bool
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if len(in.InstanceId) == 0 {
		return nil, missing("InstanceId")
	}
	if in.DryRun {
		return nil, dryRun()
	}
	changes, err := c.market.Terminate(in.InstanceId)
	if err != nil {
		return nil, err
	}
	return []node{list("instancesSet", changes, func(s market.StateChange) []node {
		return []node{txt("instanceId", s.ID), el("currentState", stateNodes(s.Current)...), el("previousState", stateNodes(s.Previous)...)}
	})}, nil
}

func stateNodes(s market.State) []node { return []node{num("code", s.Code()), txt("name", string(s))} }
