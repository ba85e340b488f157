package awsapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// answerREST answers for EKS and for the zonal shift service.
func answerREST(c *call) (answer, error) {
	var out any
	var err error
	switch c.action {
	case "DescribeCluster":
		out, err = describeCluster(c)
	case "ListClusters":
		names := []string{}
		for _, k := range c.market.Clusters() {
			names = append(names, k.Name)
		}
		out = map[string]any{"clusters": names}
	case "GetManagedResource":
		out, err = getManagedResource(c)
	default:
		return answer{}, unknown(c)
	}
	if err != nil {
		return answer{}, err
	}
	body, err := json.Marshal(out)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, kind: "application/json", body: body}, nil
}

// lastPart is what follows the first part of the path.
func lastPart(path string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, err := url.PathUnescape(rest)
	if err != nil {
		return rest
	}
	return name
}

func describeCluster(c *call) (any, error) {
	k, err := c.market.Cluster(lastPart(c.path))
	if err != nil {
		return nil, err
	}
	family := map[string]any{"ipFamily": "ipv4", "serviceIpv4Cidr": k.ServiceCIDR}
	if k.IPv6 {
		family = map[string]any{"ipFamily": "ipv6", "serviceIpv6Cidr": "fd12:3456:789a::/108"}
	}
	return map[string]any{"cluster": map[string]any{
		"name": k.Name, "arn": arn(c, "eks", "cluster/"+k.Name), "version": k.Version, "endpoint": k.Endpoint, "status": "ACTIVE",
		"platformVersion": "eks.1", "roleArn": k.Role, "createdAt": float64(k.Created.UnixMilli()) / 1000,
		"certificateAuthority":    map[string]string{"data": k.CA},
		"kubernetesNetworkConfig": family,
		"resourcesVpcConfig": map[string]any{
			"vpcId": k.VPC, "subnetIds": k.Subnets, "securityGroupIds": []string{}, "clusterSecurityGroupId": first(k.Groups),
			"endpointPublicAccess": true, "endpointPrivateAccess": true, "publicAccessCidrs": []string{"0.0.0.0/0"},
		},
		"identity":         map[string]any{"oidc": map[string]string{"issuer": k.Issuer}},
		"accessConfig":     map[string]any{"authenticationMode": "API_AND_CONFIG_MAP"},
		"zonalShiftConfig": map[string]any{"enabled": true},
		"tags":             k.Tags,
	}}, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func getManagedResource(c *call) (any, error) {
	id := lastPart(c.path)
	known := slices.ContainsFunc(c.market.Clusters(), func(k market.Cluster) bool { return arn(c, "eks", "cluster/"+k.Name) == id })
	if !known {
		return nil, market.Errorf(market.ResourceNotFoundException, "The resource %s was not found.", id)
	}
	shifts, weights := []map[string]any{}, map[string]float64{}
	shifted := c.market.Shifted()
	for _, z := range c.market.Zones() {
		weights[z.ID] = 1
		until, away := shifted[z.Name]
		if !away {
			continue
		}
		weights[z.ID] = 0
		shifts = append(shifts, map[string]any{
			"appliedStatus": "APPLIED", "awayFrom": z.ID, "comment": "simulated", "expiryTime": float64(until.Unix()),
			"startTime": float64(c.market.Now().Unix()), "resourceIdentifier": id, "zonalShiftId": "simulated-" + z.ID, "shiftType": "ZONAL_SHIFT",
		})
	}
	return map[string]any{"arn": id, "name": id[strings.LastIndex(id, "/")+1:], "appliedWeights": weights, "zonalShifts": shifts, "autoshifts": []any{}}, nil
}
