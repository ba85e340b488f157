// Package day lives through a cluster's day in seconds: pods come and go, machines are bought, join, break, are sold out, taken back and given back, and after every step it is asked whether all still holds.
//
// There is no API server and no clock. The deciding halves are the real ones,
// engine/provision, engine/disrupt and those of the controllers that drain nodes
// and keep pools of a fixed number, over Worlds; the market is the simulated
// one; kube-scheduler is played by engine/fit, which binds waiting pods to any
// machine that takes them, in an order of its own. A day of the same seed is
// the same day.
package day
