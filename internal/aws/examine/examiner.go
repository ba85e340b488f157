package examine

import (
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/dryrun"
	"github.com/tenon-sh/tenon/internal/aws/launch"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/selection"
)

// Examiner looks at an account and at classes.
type Examiner struct {
	Clients   *access.Clients
	Selection *selection.Finder
	Profiles  profile.Classes
	Machines  *machine.Set
	Launcher  *launch.Launcher
	Trials    *dryrun.Trials
	Cluster   string
	Endpoint  string // of its API server as the user says; empty: EKS is asked
	Queue     string // of interruption notices; empty: none is read
	Isolated  bool   // the VPC cannot reach the Pricing service
}
