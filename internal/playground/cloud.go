package playground

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A cloud is the simulated AWS account. The machines it sells join the cluster.
type cloud struct {
	currency string // of its prices
	*awsapi.Account
	URL  string // of the AWS APIs
	done <-chan struct{}
}

// startCloud serves an account until ctx ends.
func (g *ground) startCloud(ctx context.Context) (*cloud, error) {
	access, err := clientcmd.BuildConfigFromFlags("", g.cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	region, err := g.types.Region(g.Region)
	if err != nil {
		return nil, err
	}
	account, err := awsapi.NewAccount(awsapi.Config{
		Region: g.Region, ClusterName: g.ClusterName, KubernetesVersion: g.KubernetesVersion, Endpoint: g.cluster.URL, CA: access.CAData, Catalog: region, Now: g.Now, Timing: g.Timing,
		ExtraZones: g.ExtraZones, ExtraTypes: g.ExtraTypes, Kubeconfig: g.Dir.Kubeconfig(),
	})
	if err != nil {
		return nil, err
	}
	c := &cloud{Account: account, currency: region.Currency}
	g.play(ctx, c)
	if err := c.restore(ctx, g.Options, g.types, g.fleet, g.log); err != nil {
		return nil, err
	}
	url, still, err := awsapi.NewServer(account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.keep(ctx, g.Dir, g.log, still)
	}()
	c.URL, c.done = url, done
	return c, nil
}

// play has the fleet play what the market of the account says of machines.
func (g *ground) play(ctx context.Context, c *cloud) {
	c.Observe(market.Observers{
		OnRunning: func(i market.Instance) {
			m, err := machineOf(g.types, g.Options, i)
			if err == nil {
				err = g.fleet.Boot(m)
			}
			if err != nil {
				g.log.say("machine %s: %v", i.ID, err)
				return
			}
		},
		OnTerminated: func(i market.Instance) {
			// The market goes on meanwhile.
			go func() {
				if err := g.fleet.Die(ctx, i.ID); err != nil && ctx.Err() == nil {
					g.log.say("machine %s: %v", i.ID, err)
				}
			}()
		},
		OnNotice: func(n market.Notice) {
			switch {
			case n.Kind != market.StateChanged:
				g.log.say("AWS says of machine %s: %s", n.Instance, n.Kind)
			case n.State == market.Pending:
				if found, err := c.Market.Find([]string{n.Instance}); err == nil {
					g.log.say("%s", bought(found[0], c.Market.OnDemandPrice(found[0].Type), c.currency))
				}
			}
		},
	})
}

// bought says what a machine is and costs.
func bought(i market.Instance, onDemand money.Micro, currency string) string {
	if i.Reservation != "" {
		return fmt.Sprintf("machine %s is taken from reservation %s: %s in %s", i.ID, i.Reservation, i.Type, i.Zone)
	}
	if group := i.Tags[awsapi.TagNodeGroup]; group != "" {
		return fmt.Sprintf("machine %s is launched by node group %s: %s in %s", i.ID, group, i.Type, i.Zone)
	}
	text := fmt.Sprintf("machine %s is bought: %s %s in %s, %s an hour", i.ID, i.CapacityType, i.Type, i.Zone, i.Price.Text(currency))
	if i.Price < onDemand {
		text += fmt.Sprintf(", %d %% below on-demand", 100-100*i.Price/onDemand)
	}
	return text
}

// kill ends a machine without notice, in the account when it is of the account.
func (c *cloud) kill(ctx context.Context, fleet *kubelet.Fleet, id string) error {
	if found, err := c.Market.Find([]string{id}); err == nil && len(found) == 1 {
		return c.Market.Kill(id)
	}
	return fleet.Die(ctx, id)
}

// machineOf is the machine that an instance of the market starts as.
func machineOf(types *catalog.Catalog, o Options, i market.Instance) (kubelet.Machine, error) {
	t, ok := types.Type(cmp.Or(o.ExtraTypes[i.Type], i.Type))
	if !ok {
		return kubelet.Machine{}, fmt.Errorf("its type %s is not in the catalogue", i.Type)
	}
	userData, err := base64.StdEncoding.DecodeString(i.Data.UserData)
	if err != nil {
		return kubelet.Machine{}, fmt.Errorf("its user data: %w", err)
	}
	room := capacity(t)
	if disk, ok := disk(i.Data.Devices); ok {
		room[corev1.ResourceEphemeralStorage] = disk
	}
	return kubelet.Machine{
		ID: i.ID, ProviderID: "aws:///" + i.Zone + "/" + i.ID, NodeName: i.DNS, InstanceType: i.Type,
		Zone: i.Zone, ZoneID: i.ZoneID, Region: o.Region, Version: o.kubelet(), Arch: t.Arch, PrivateIP: i.Address.String(), Image: i.Image,
		UserData: userData, Capacity: room,
	}, nil
}

// disk is the size of the volume that pods write to: the second where the system keeps the first to itself.
func disk(devices []market.Device) (resource.Quantity, bool) {
	for _, name := range []string{"/dev/xvdb", "/dev/xvda", "/dev/sda1"} {
		for _, d := range devices {
			if d.Name == name && d.SizeGiB != nil {
				return *resource.NewQuantity(int64(*d.SizeGiB)<<30, resource.BinarySI), true
			}
		}
	}
	return resource.Quantity{}, false
}

// environment is what points the AWS SDK at the account, as the owner of key, and at nothing of the user's.
func (c *cloud) environment(region, key string) []string {
	return []string{
		"AWS_ENDPOINT_URL=" + c.URL,
		"AWS_REGION=" + region,
		"AWS_DEFAULT_REGION=" + region, // as the first version of the command line reads it
		"AWS_ACCESS_KEY_ID=" + key,
		"AWS_SECRET_ACCESS_KEY=" + awsapi.SecretKey,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
}

// exports writes an environment so that a shell can read it.
func exports(env []string) []byte {
	var b strings.Builder
	for _, e := range env {
		b.WriteString("export " + e + "\n")
	}
	return []byte(b.String())
}
