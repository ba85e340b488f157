// Package day lives through a cluster's day in seconds: pods come and go, machines are bought, join, break, are sold out, taken back and given back, and after every step it is asked whether all still holds.
//
// There is no API server and no clock. The deciding halves are the real ones,
// engine/provision, engine/disrupt and those of the controllers that drain nodes
// and keep pools of a fixed number, over Worlds; the market is the simulated
// one; kube-scheduler is played by engine/fit, which binds waiting pods to any
// machine that takes them, in an order of its own. A day of the same seed is
// the same day.
//
// Weeks are days with a [Life]: besides, workloads roll out, pools are edited,
// storms take the spot machines of a zone, calls of the cloud fail or lose their
// answers, and the process ends between two of its writes. What belongs to the
// process is on its own part of the agenda and ends with it. The next one has
// the objects and the market, and nothing else. Its shells, and the informers
// and promises between it and the API server, are not here: they are tested
// over internal/apitest.
package day
