// Package solve chooses machines for classes of items at least cost.
//
// It knows nothing of pods or Kubernetes: items need amounts, hosts have room and a price, and the answer says which hosts to open
// and what goes on each. It is a pure function of the problem: the same problem gives the same answer, byte for byte.
package solve
