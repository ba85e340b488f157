package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed switch.go.txt
var switches string

// A fate is what became of a mutant.
type fate int

const (
	untried   fate = iota // time was up
	killed                // a test failed, or did not end
	lived                 // all tests passed
	unreached             // no test runs what is changed
	fateCount
)

func (f fate) String() string { return [...]string{"NOT TRIED", "KILLED", "LIVED", "NOT REACHED"}[f] }

// A suite is the compiled tests of one package, with all mutants in them.
type suite struct {
	path    string
	dir     string
	binary  string
	args    []string
	reached map[int]bool
	limit   time.Duration
}

// build compiles the tests and runs each suite once with no mutant switched on.
func build(p *changed, dir string, o options) ([]*suite, error) {
	replace := map[string]string{}
	write := func(at, text string) error {
		to := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[at] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	for at, text := range p.files {
		if err := write(at, text); err != nil {
			return nil, fmt.Errorf("write a changed file: %w", err)
		}
	}
	if err := write(filepath.Join(p.dir, "mutant_switch.go"), strings.Replace(switches, "PACKAGE", p.name, 1)); err != nil {
		return nil, fmt.Errorf("write the switches: %w", err)
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, fmt.Errorf("list the changed files: %w", err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return nil, fmt.Errorf("list the changed files: %w", err)
	}
	paths := []string{p.path}
	for path := range strings.SplitSeq(o.tests, ",") {
		if path = strings.TrimPrefix(path, "./"); path != "" {
			paths = append(paths, module+path)
		}
	}
	var out []*suite
	for i, path := range paths {
		folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			return nil, fmt.Errorf("find the folder of %s: %w", path, err)
		}
		s := &suite{path: path, dir: strings.TrimSpace(string(folder)), binary: filepath.Join(dir, fmt.Sprintf("%d.test", i)), reached: map[int]bool{}}
		if text, err := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-c", "-o", s.binary, path).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile the tests of %s: %w\n%s", path, err, text)
		}
		if _, err := os.Stat(s.binary); err != nil {
			continue // no tests
		}
		if i > 0 && o.run != "" {
			s.args = append(s.args, "-test.run", o.run)
		}
		if i == 0 && o.skip != "" {
			s.args = append(s.args, "-test.skip", o.skip)
		}
		if err := s.measure(); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// measure runs the suite as it is: it notes what is reached and how long it takes.
func (s *suite) measure() error {
	help, _ := exec.Command(s.binary, "-help").CombinedOutput() //nolint:errcheck // the help of flags ends with an error
	s.args = append(s.args, "-test.failfast")
	if bytes.Contains(help, []byte("rapid.nofailfile")) {
		s.args = append(s.args, "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	}
	seen := s.binary + ".reached"
	began := time.Now() //nolint:forbidigo // a tool measures real time
	s.limit = 30 * time.Minute
	if text, err := s.run("MUTANTS_REACHED=" + seen); err != nil {
		return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", s.path, err, text)
	}
	s.limit = 10*time.Second + 5*time.Since(began) //nolint:forbidigo // see above
	list, _ := os.ReadFile(seen)                   //nolint:errcheck // there is no file if nothing is reached
	for line := range strings.Lines(string(list)) {
		id, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return fmt.Errorf("read what is reached: %w", err)
		}
		s.reached[id] = true
	}
	return nil
}

func (s *suite) run(env string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, s.args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env, "GOMEMLIMIT=1GiB")
	return cmd.CombinedOutput()
}

// judging is how mutants are tried.
type judging struct {
	until   time.Time
	workers int
}

// judge switches the mutants on one by one, and says what became of each.
func judge(suites []*suite, ids []int, j judging) map[int]fate {
	fates := map[int]fate{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan int)
	for range j.workers {
		wg.Go(func() {
			for id := range queue {
				f := untried
				if time.Now().Before(j.until) { //nolint:forbidigo // a tool's budget is real time
					f = fateOf(suites, id)
				}
				mu.Lock()
				fates[id] = f
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		queue <- id
	}
	close(queue)
	wg.Wait()
	return fates
}

func fateOf(suites []*suite, id int) fate {
	f := unreached
	for _, s := range suites {
		if !s.reached[id] {
			continue
		}
		if _, err := s.run("MUTANT=" + strconv.Itoa(id)); err != nil {
			return killed
		}
		f = lived
	}
	return f
}
