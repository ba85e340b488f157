package fit

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Ports refuses a place where a host port of the pod is taken.
func Ports(p *world.Pod, at *Place) *reason.Why {
	for _, want := range p.Ports {
		for _, taken := range at.Ports {
			if collide(want, taken) {
				return &reason.Why{Code: reason.Port, Subject: at.Name, Detail: portText(want) + " meets " + portText(taken)}
			}
		}
	}
	return nil
}

func hasPorts(p *world.Pod) bool { return len(p.Ports) > 0 }

func portsFree(p *world.Pod, at *Place) bool {
	for _, want := range p.Ports {
		for _, taken := range at.Ports {
			if collide(want, taken) {
				return false
			}
		}
	}
	return true
}

// collide reports whether two host ports cannot be had on one machine.
func collide(a, b world.Port) bool {
	return a.Port == b.Port && protocol(a) == protocol(b) && (a.IP == b.IP || everywhere(a) || everywhere(b))
}

func everywhere(p world.Port) bool { return p.IP == "" || p.IP == "0.0.0.0" }

func protocol(p world.Port) string {
	if p.Protocol == "" {
		return "TCP"
	}
	return p.Protocol
}

func portText(p world.Port) string {
	ip := p.IP
	if ip == "" {
		ip = "0.0.0.0"
	}
	return fmt.Sprintf("%s/%s/%d", ip, protocol(p), p.Port)
}
