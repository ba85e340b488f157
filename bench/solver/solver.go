// Package solver asks HiGHS, an independent solver of mixed-integer programs, for the cheapest machines that hold pods.
package solver

import (
	"bufio"
	"context"
	_ "embed" // the program that asks it
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

//go:embed solve.py
var program string

// ErrMissing says that the solver is not to be had on this machine.
var ErrMissing = errors.New("python3 with scipy 1.9 or later, by which HiGHS is asked, is not there (Debian: python3-scipy)")

// Model is pods to be placed and machines that may be bought, any number of each.
type Model struct {
	Need    [][]int64 `json:"need"`    // of one pod of each kind, by dimension
	Count   []int     `json:"count"`   // pods of each kind
	Most    []int     `json:"most"`    // that one machine may hold of them
	Room    [][]int64 `json:"room"`    // of each type of machine
	Cost    []float64 `json:"cost"`    // of each type
	Slots   int       `json:"slots"`   // machines at most
	Seconds float64   `json:"seconds"` // to look for
}

// Answer is the best arrangement that was found.
type Answer struct {
	Optimal  bool      `json:"optimal"` // nothing cheaper with so many machines
	Bound    float64   `json:"bound"`   // that the solver proved
	Machines []Machine `json:"machines"`
}

// Machine is one of the arrangement.
type Machine struct {
	Type  int   `json:"type"`
	Holds []int `json:"holds"` // pods of each kind
}

// Solver is a running program.
type Solver struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// Start starts the program; ErrMissing if it cannot run here.
func Start(ctx context.Context) (*Solver, error) {
	python, ok := interpreter(ctx)
	if !ok {
		return nil, ErrMissing
	}
	s := &Solver{cmd: exec.CommandContext(ctx, python, "-c", program)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("solver: %w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("solver: %w", err)
	}
	s.in, s.out = in, bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<24)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("solver: %w", err)
	}
	return s, nil
}

// interpreter is the Python that has scipy: not always the first in the path.
func interpreter(ctx context.Context) (string, bool) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", "from scipy.optimize import milp").Run() == nil {
			return python, true
		}
	}
	return "", false
}

// Solve has it look for the cheapest arrangement.
func (s *Solver) Solve(m Model) (Answer, error) {
	var a Answer
	if err := json.NewEncoder(s.in).Encode(m); err != nil {
		return a, fmt.Errorf("solver: ask: %w", err)
	}
	if !s.out.Scan() {
		return a, fmt.Errorf("solver: it said nothing: %w", errors.Join(s.out.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(s.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("solver: read: %w", err)
	}
	return a, nil
}

// End ends the program.
func (s *Solver) End() error {
	if err := s.in.Close(); err != nil {
		return fmt.Errorf("solver: end: %w", err)
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("solver: end: %w", err)
	}
	return nil
}

// CostOf is what an arrangement costs; an error says which pods it leaves out, or which machine cannot hold what it should.
// It is reckoned in whole numbers, so that nothing hangs on the solver's tolerances.
func (m Model) CostOf(a Answer) (float64, error) {
	left := append([]int(nil), m.Count...)
	cost := 0.0
	for i, x := range a.Machines {
		for d, room := range m.Room[x.Type] {
			for k, n := range x.Holds {
				room -= m.Need[k][d] * int64(n)
			}
			if room < 0 {
				return 0, fmt.Errorf("machine %d is overfull", i)
			}
		}
		for k, n := range x.Holds {
			if n > m.Most[k] {
				return 0, fmt.Errorf("machine %d holds %d pods of kind %d, of at most %d", i, n, k, m.Most[k])
			}
			left[k] -= n
		}
		cost += m.Cost[x.Type]
	}
	for k, n := range left {
		if n != 0 {
			return 0, fmt.Errorf("%d pods of kind %d are left over", n, k)
		}
	}
	return cost, nil
}
