package market

import (
	"strings"
	"time"
)

// Limit is a token bucket: a burst, refilled at a rate.
type Limit struct {
	Burst float64
	Rate  float64 // tokens per second
}

// Limits returns the limits AWS publishes, or is known to have, for the calls that matter here.
// Keys are "service:Action"; "service:*" holds for the rest of a service and is shared by its calls.
func Limits() map[string]Limit {
	return map[string]Limit{
		"ec2:Describe*":                    {Burst: 100, Rate: 20},
		"ec2:*":                            {Burst: 50, Rate: 5},
		"ec2:CreateFleet":                  {Burst: 50, Rate: 5},
		"ec2:CreateLaunchTemplate":         {Burst: 50, Rate: 5},
		"ec2:CreateTags":                   {Burst: 100, Rate: 10},
		"ec2:RunInstances":                 {Burst: 50, Rate: 5},
		"ec2:TerminateInstances":           {Burst: 100, Rate: 5},
		"iam:*":                            {Burst: 100, Rate: 20},
		"sts:*":                            {Burst: 600, Rate: 600},
		"ssm:*":                            {Burst: 40, Rate: 40},
		"eks:*":                            {Burst: 100, Rate: 10},
		"sqs:*":                            {Burst: 3000, Rate: 3000},
		"pricing:*":                        {Burst: 100, Rate: 10},
		"arc-zonal-shift:*":                {Burst: 30, Rate: 10},
		"ec2:DescribeSpotPriceHistory":     {Burst: 100, Rate: 20},
		"ec2:DescribeInstanceTypes":        {Burst: 100, Rate: 20},
		"ec2:DescribeCapacityReservations": {Burst: 100, Rate: 20},
	}
}

type leaky struct {
	left float64
	at   time.Time
}

// Throttle takes one token for a call and reports whether there was none. New limits may be set at any time.
func (m *Market) Throttle(service, action string) bool {
	defer m.lock()()
	key, limit, ok := m.limit(service, action)
	if !ok {
		return false
	}
	t := m.bucket[key]
	if t == nil {
		t = &leaky{left: limit.Burst, at: m.at}
		m.bucket[key] = t
	}
	t.left = min(limit.Burst, t.left+limit.Rate*m.at.Sub(t.at).Seconds())
	t.at = m.at
	if t.left < 1 {
		return true
	}
	t.left--
	return false
}

// SetLimit changes how often a call may be made; a zero limit lifts it.
func (m *Market) SetLimit(key string, l Limit) {
	defer m.lock()()
	limits := map[string]Limit{}
	for k, v := range m.cfg.Limits {
		limits[k] = v
	}
	if l == (Limit{}) {
		delete(limits, key)
	} else {
		limits[key] = l
	}
	m.cfg.Limits = limits
	delete(m.bucket, key)
}

// limit finds the bucket of a call: its own, that of the describe calls, or that of its service.
// Describe calls have a bucket each; the rest of a service shares one.
func (m *Market) limit(service, action string) (string, Limit, bool) {
	own := service + ":" + action
	if l, ok := m.cfg.Limits[own]; ok {
		return own, l, true
	}
	if strings.HasPrefix(action, "Describe") {
		if l, ok := m.cfg.Limits[service+":Describe*"]; ok {
			return own, l, true
		}
	}
	key := service + ":*"
	l, ok := m.cfg.Limits[key]
	return key, l, ok
}
