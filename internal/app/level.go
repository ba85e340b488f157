package app

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// The ConfigMap that says how much is logged, and where in it.
const (
	logConfig = "config-logging"
	logLevel  = "loglevel.controller"
)

// DynamicLevel is a level that can be changed while the program runs. A nil one stands
// at InfoLevel.
type DynamicLevel struct{ level atomic.Int32 }

// NewDynamicLevel returns a level that begins as given.
func NewDynamicLevel(at Level) *DynamicLevel {
	d := &DynamicLevel{}
	d.Set(at)
	return d
}

// Set changes the level.
func (d *DynamicLevel) Set(to Level) { d.level.Store(int32(to)) } //nolint:gosec // one of three

// At is the level now.
func (d *DynamicLevel) At() Level {
	if d == nil {
		return InfoLevel
	}
	return Level(d.level.Load())
}

// followLevel has the level follow the ConfigMap in the namespace of this pod,
// if there is one that may be read. While it says nothing the level stays.
func (p *parts) followLevel(plain kubernetes.Interface) error {
	namespace := p.Settings.LeaseNamespace
	if p.LogLevel == nil || namespace == "" {
		return nil
	}
	log := p.Log.WithName("controller")
	read := p.cluster.Panics.Handle("log level", func(o any) {
		c, ok := o.(*corev1.ConfigMap)
		if !ok || c.Data[logLevel] == "" {
			return
		}
		level, err := ParseLevel(c.Data[logLevel])
		switch {
		case err != nil:
			log.Error(err, "read how much to log", "ConfigMap", logConfig)
		case level != p.LogLevel.At():
			p.LogLevel.Set(level)
			log.Info("logging otherwise from now on", "level", c.Data[logLevel])
		}
	})
	return p.m.Add(onEveryReplica(func(ctx context.Context) error {
		_, err := plain.CoreV1().ConfigMaps(namespace).Get(ctx, logConfig, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			log.V(1).Info("the log stays as it is: its ConfigMap cannot be read", "ConfigMap", logConfig, "error", err.Error())
			return nil
		}
		_, follower := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: cache.NewListWatchFromClient(plain.CoreV1().RESTClient(), "configmaps", namespace, fields.OneTermEqualSelector(metav1.ObjectNameField, logConfig)),
			ObjectType:    &corev1.ConfigMap{},
			Handler:       cache.ResourceEventHandlerFuncs{AddFunc: read, UpdateFunc: func(_, o any) { read(o) }},
		})
		follower.RunWithContext(ctx)
		return nil
	}))
}
