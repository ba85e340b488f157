// Package expression computes the kubelet settings that a class gives as expressions in CEL, for one type of machine at a time.
package expression

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/tenon-sh/tenon/internal/aws/kubelet"
)

const (
	maxLength = 1024   // bytes of one expression
	maxDepth  = 50     // of what stands in parentheses
	maxCost   = 10_000 // of one evaluation, in steps of CEL; an expression of arithmetic takes a few dozen
	maxKept   = 256    // compiled expressions

	maxPods   = math.MaxInt32
	maxAmount = 1 << 40 // of any resource, in its unit: far above any machine
)

// Compiler compiles expressions, each once. Nothing of CEL is made before the first.
type Compiler struct {
	mu    sync.Mutex
	env   *cel.Env
	known map[string]compiled
}

// compiled is an expression, or what is wrong with it.
type compiled struct {
	program cel.Program
	err     error
}

// Program is the expressions of one class.
type Program struct {
	maxPods      cel.Program // nil: it is no expression
	kube, system map[string]cel.Program
}

// Compile compiles the expressions of kubelet settings; nil if there are none. Its error names everything that is wrong.
func (c *Compiler) Compile(e kubelet.Expressions) (*Program, error) {
	if !e.Any() {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(); err != nil {
		return nil, err
	}
	var wrong []error
	one := func(name, text string) cel.Program {
		found := c.compile(text)
		if found.err != nil {
			wrong = append(wrong, fmt.Errorf("spec.kubelet.%s: %w", name, found.err))
		}
		return found.program
	}
	out := &Program{kube: map[string]cel.Program{}, system: map[string]cel.Program{}}
	if e.MaxPods != "" {
		out.maxPods = one("maxPods", e.MaxPods)
	}
	for name, part := range map[string]struct {
		from map[string]string
		to   map[string]cel.Program
	}{"kubeReserved": {e.KubeReserved, out.kube}, "systemReserved": {e.SystemReserved, out.system}} {
		for key, text := range part.from {
			if _, ok := unitOf(key); !ok {
				wrong = append(wrong, fmt.Errorf("spec.kubelet.%s.%s: an expression gives cpu, memory, ephemeral-storage or pid", name, key))
				continue
			}
			part.to[key] = one(name+"."+key, text)
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return out, joined(wrong)
}

// joined is errors in one line.
func joined(all []error) error {
	if len(all) == 0 {
		return nil
	}
	texts := make([]string, len(all))
	for i, err := range all {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// start makes what expressions are compiled with. The lock is held.
func (c *Compiler) start() (err error) {
	if c.env != nil {
		return nil
	}
	number := func(name string) cel.EnvOption { return cel.Variable(name, cel.IntType) }
	c.env, err = cel.NewEnv(
		number("vcpus"), number("memory_mib"), number("default_enis"), number("ips_per_eni"), number("max_pods"), cel.Variable("instance_type", cel.StringType),
		either("min", func(order types.Int) bool { return order <= 0 }), either("max", func(order types.Int) bool { return order > 0 }),
		cel.ParserExpressionSizeLimit(maxLength), cel.ParserRecursionLimit(maxDepth),
	)
	if err != nil {
		return fmt.Errorf("start CEL: %w", err)
	}
	c.known = map[string]compiled{}
	return nil
}

// either is a function of two numbers that returns one of them: the first, if it compares so with the second. Of an int and a double it is a double.
func either(name string, first func(types.Int) bool) cel.EnvOption {
	var overloads []cel.FunctionOpt
	for _, a := range []*cel.Type{cel.IntType, cel.DoubleType} {
		for _, b := range []*cel.Type{cel.IntType, cel.DoubleType} {
			result := cel.DoubleType
			if a == b {
				result = a
			}
			overloads = append(overloads, cel.Overload(name+"_"+a.String()+"_"+b.String(), []*cel.Type{a, b}, result, cel.BinaryBinding(func(x, y ref.Val) ref.Val {
				if result == cel.DoubleType {
					x, y = x.ConvertToType(types.DoubleType), y.ConvertToType(types.DoubleType)
				}
				xs, ok := x.(interface{ Compare(ref.Val) ref.Val })
				if !ok {
					return types.MaybeNoSuchOverloadErr(x)
				}
				order, ok := xs.Compare(y).(types.Int)
				if !ok { // of what is no number there is no order
					return types.NewErr("%s of what is no number", name)
				}
				if first(order) {
					return x
				}
				return y
			})))
		}
	}
	return cel.Function(name, overloads...)
}

// compile compiles one expression. The lock is held.
func (c *Compiler) compile(text string) compiled {
	if found, ok := c.known[text]; ok {
		return found
	}
	if len(c.known) >= maxKept {
		clear(c.known)
	}
	var out compiled
	out.program, out.err = c.program(text)
	c.known[text] = out
	return out
}

func (c *Compiler) program(text string) (cel.Program, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("the expression has %d bytes, %d are allowed", len(text), maxLength)
	}
	ast, issues := c.env.Compile(text)
	if issues != nil && issues.Err() != nil {
		var all []error
		for _, e := range issues.Errors() {
			all = append(all, fmt.Errorf("column %d: %s", max(e.Location.Column()+1, 1), strings.ReplaceAll(e.Message, " (in container '')", "")))
		}
		return nil, joined(all)
	}
	if t := ast.OutputType(); !t.IsExactType(cel.IntType) && !t.IsExactType(cel.DoubleType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("it gives a %s, want a number", t)
	}
	return c.env.Program(ast, cel.CostLimit(maxCost))
}

// Compute returns settings with numbers in the place of expressions, as they are for a type. pods says how many pods the type takes by some settings. Its
// error names every expression that fails: then there is no answer, for a part of one would start machines that reserve something else.
func (p *Program) Compute(k kubelet.Config, m kubelet.Machine, pods func(kubelet.Config) int64) (kubelet.Config, error) {
	vars := map[string]any{
		"vcpus": m.VCPUs, "memory_mib": m.MemoryMiB, "default_enis": m.DefaultENIs, "ips_per_eni": m.IPsPerENI, "instance_type": m.Type, "max_pods": pods(k),
	}
	if p.maxPods != nil {
		n, err := evaluate(p.maxPods, vars, maxPods)
		if err != nil {
			return kubelet.Config{}, fmt.Errorf("spec.kubelet.maxPods: %w", err)
		}
		k.MaxPods = &n
		vars["max_pods"] = pods(k)
	}
	var wrong []error
	k.KubeReserved = reserve("kubeReserved", k.KubeReserved, p.kube, vars, &wrong)
	k.SystemReserved = reserve("systemReserved", k.SystemReserved, p.system, vars, &wrong)
	if err := joined(wrong); err != nil {
		return kubelet.Config{}, err
	}
	return k, nil
}

// reserve adds to reserved amounts those that are computed.
func reserve(name string, said map[string]string, programs map[string]cel.Program, vars map[string]any, wrong *[]error) map[string]string {
	if len(programs) == 0 {
		return said
	}
	out := maps.Clone(said)
	if out == nil {
		out = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(programs)) {
		n, err := evaluate(programs[key], vars, maxAmount)
		if err != nil {
			*wrong = append(*wrong, fmt.Errorf("spec.kubelet.%s.%s: %w", name, key, err))
			continue
		}
		u, _ := unitOf(key)
		out[key] = strconv.FormatInt((n+u.step-1)/u.step*u.step, 10) + u.suffix
	}
	return out
}

// unit is in what an expression gives a resource, and to what it is rounded up: each other amount would need a launch template of its own.
type unit struct {
	suffix string
	step   int64
}

func unitOf(resource string) (unit, bool) {
	u, ok := map[string]unit{"cpu": {"m", 10}, "memory": {"Mi", 16}, "ephemeral-storage": {"Gi", 1}, "pid": {"", 1}}[resource]
	return u, ok
}

// evaluate returns a whole number from zero to most.
func evaluate(p cel.Program, vars map[string]any, most int64) (int64, error) {
	value, _, err := p.Eval(vars)
	if err != nil {
		return 0, err
	}
	var n int64
	switch v := value.(type) {
	case types.Int:
		n = int64(v)
	case types.Double:
		f := float64(v)
		if math.IsNaN(f) || math.Abs(f) > float64(most)+1 {
			return 0, fmt.Errorf("it gives %v, want a number from 0 to %d", f, most)
		}
		n = int64(f)
	default:
		return 0, fmt.Errorf("it gives a %s, want a number", value.Type().TypeName())
	}
	if n < 0 || n > most {
		return 0, fmt.Errorf("it gives %d, want a number from 0 to %d", n, most)
	}
	return n, nil
}
