package app

import (
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/buffer"
	"github.com/tenon-sh/tenon/internal/controller/class"
	"github.com/tenon-sh/tenon/internal/controller/collect"
	"github.com/tenon-sh/tenon/internal/controller/consolidatable"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/controller/drift"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
	"github.com/tenon-sh/tenon/internal/controller/launch"
	"github.com/tenon-sh/tenon/internal/controller/liveness"
	"github.com/tenon-sh/tenon/internal/controller/overlay"
	"github.com/tenon-sh/tenon/internal/controller/podevent"
	"github.com/tenon-sh/tenon/internal/controller/pool"
	"github.com/tenon-sh/tenon/internal/controller/provision"
	"github.com/tenon-sh/tenon/internal/controller/register"
	"github.com/tenon-sh/tenon/internal/controller/repair"
	"github.com/tenon-sh/tenon/internal/controller/shadow"
	"github.com/tenon-sh/tenon/internal/controller/static"
	"github.com/tenon-sh/tenon/internal/controller/tag"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Specs are what the whole controller touches of the API server. The chart's
// roles are made from them.
func Specs() []loop.Spec {
	return []loop.Spec{
		buffer.Spec(), class.Spec(), collect.Spec(), disrupt.Spec(), drift.Spec(), initialize.Spec(), interrupt.Spec(), launch.Spec(),
		liveness.Spec(), overlay.Spec(), podevent.Spec(), pool.Spec(), provision.Spec(), consolidatable.Spec(), register.Spec(), repair.Spec(), static.Spec(),
		tag.Spec(), terminate.Spec(),
		classSpec(),
		{
			Name:   "events", // of the election, beside those of the controllers
			Writes: []loop.Write{loop.To("", "events", "create", "patch")},
		},
	}
}

// ShadowSpecs are what it touches in shadow mode: it only reads.
func ShadowSpecs() []loop.Spec { return []loop.Spec{shadow.Spec(), classSpec()} }

// classSpec is for the classes: the driver reads them, and catalogues are rebuilt when they change.
func classSpec() loop.Spec {
	return loop.Spec{
		Name: "classes",
		Reads: []loop.Resource{
			loop.Of(awsv1.Group, "ec2nodeclasses"), loop.Of(awsv1.Group, "awsnodetemplates"),
			loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "provisioners"),
		},
	}
}
