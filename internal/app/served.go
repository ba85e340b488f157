package app

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
)

// followsOverlays reports whether NodeOverlays are followed: their gate is open, and the API server has them.
func (c Config) followsOverlays(m ctrl.Manager) (bool, error) {
	if !c.Settings.Gates.NodeOverlay {
		return false, nil
	}
	there, err := served(m.GetRESTMapper(), schema.GroupKind{Group: v1alpha1.Group, Kind: "NodeOverlay"}, "v1alpha1")
	if err == nil && !there {
		c.Log.Info("the feature gate NodeOverlay is open, and this cluster has no NodeOverlays: install their CRD and start again")
	}
	return there, err
}

// followsBuffers reports whether CapacityBuffers are followed: their gate is open, and the API server has them.
// In shadow mode nothing is held: the controller in charge holds the room.
func (c Config) followsBuffers(m ctrl.Manager) (bool, error) {
	if !c.Settings.Gates.CapacityBuffer || c.Settings.Shadow {
		return false, nil
	}
	there, err := served(m.GetRESTMapper(), schema.GroupKind{Group: v1beta1.Group, Kind: "CapacityBuffer"}, "v1beta1")
	if err == nil && !there {
		c.Log.Info("the feature gate CapacityBuffer is open, and this cluster has no CapacityBuffers: install their CRD and start again")
	}
	return there, err
}

// followsDevices reports whether pods with resource claims are planned for: they are not to be ignored, and the API
// server has what says which devices there are.
func (c Config) followsDevices(m ctrl.Manager) (bool, error) {
	if !c.Settings.Devices {
		return false, nil
	}
	there, err := served(m.GetRESTMapper(), schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}, "v1")
	if err == nil && !there {
		c.Log.Info("IGNORE_DRA_REQUESTS=false, and this cluster does not serve resource.k8s.io/v1: pods with resource claims are refused; Kubernetes 1.34 and later serve it")
	}
	return there, err
}

// served reports whether the API server has a kind.
func served(m meta.RESTMapper, kind schema.GroupKind, version string) (bool, error) {
	_, err := m.RESTMapping(kind, version)
	switch {
	case err == nil:
		return true, nil
	case meta.IsNoMatchError(err):
		return false, nil
	}
	return false, fmt.Errorf("ask whether there is a %s: %w", kind.Kind, err)
}
