// Package document lets five public documents about Karpenter be followed on a playground.
//
// A document is a story: what surrounds it, and its steps, each with what it says, the commands that a reader types and
// what there is to be seen then. `tenon up --document` tells a story while it runs; the tests follow the same steps and
// look closer. The stories stand in stories/NNN/story.md beside the documents' manifests.
package document

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed stories
var stories embed.FS

// A Document is one of the five, as it is written here.
type Document struct {
	ID           string
	Surroundings Surroundings
	Says         string
	Steps        []Step
}

// Surroundings are what the document's reader has before the first command, as its story begins with.
type Surroundings struct {
	Title      string         `json:"title"`
	Region     string         `json:"region"`
	Cluster    string         `json:"cluster"`
	Kubernetes string         `json:"kubernetes"` // what EKS says that its version is
	Managed    map[string]int `json:"managed"`    // machines of a managed node group, by type
	Fargate    int            `json:"fargate"`
	Zones      []string       `json:"zones"` // that the region does not have
}

// A Step is a part of a document.
type Step struct {
	Name     string
	Says     string
	Commands []Commands
	Sees     []Sight
}

// Commands are typed together.
type Commands struct {
	Text  string
	Needs []string // programs that this repository does not have; without one of them nothing of it is typed
	Watch bool     // it goes on until the reader has seen enough
}

// IDs are the documents there are.
func IDs() []string {
	found, err := fs.Glob(stories, "stories/*/story.md")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var out []string
	for _, f := range found {
		out = append(out, path.Base(path.Dir(f)))
	}
	return out
}

// Load reads a document.
func Load(id string) (Document, error) {
	if !slices.Contains(IDs(), id) {
		return Document{}, fmt.Errorf("there is no document %q; there are %s", id, strings.Join(IDs(), ", "))
	}
	text, err := stories.ReadFile(path.Join("stories", id, "story.md"))
	if err != nil {
		return Document{}, err
	}
	d := Document{ID: id}
	if err := d.parse(string(text)); err != nil {
		return Document{}, fmt.Errorf("story of document %s: %w", id, err)
	}
	return d, nil
}

// Manifest is a file of the document.
func (d Document) Manifest(name string) ([]byte, error) {
	return stories.ReadFile(path.Join("stories", d.ID, name))
}

// Step returns the step of that name.
func (d Document) Step(name string) (Step, error) {
	at := slices.IndexFunc(d.Steps, func(s Step) bool { return s.Name == name })
	if at < 0 {
		return Step{}, fmt.Errorf("document %s has no step %q", d.ID, name)
	}
	return d.Steps[at], nil
}

// parse reads a story: a header of YAML, and a step for each heading of the second level. In a step, fenced commands
// name the programs that they need beside kubectl and helm, a line `# (file)` in them stands for a manifest, and a list
// says what is to be seen.
func (d *Document) parse(text string) error {
	header, rest, ok := bytes.Cut([]byte(strings.TrimPrefix(text, "---\n")), []byte("\n---\n"))
	if !ok {
		return fmt.Errorf("it has no header")
	}
	if err := yaml.UnmarshalStrict(header, &d.Surroundings); err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	parts := strings.Split("\n"+string(rest), "\n## ")
	d.Says = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		s, err := d.step(name, text)
		if err != nil {
			return fmt.Errorf("step %q: %w", name, err)
		}
		d.Steps = append(d.Steps, s)
	}
	return nil
}

func (d *Document) step(name, text string) (Step, error) {
	s := Step{Name: name}
	var says []string
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			how, commands, _ := strings.Cut(part, "\n")
			c, err := d.commands(strings.Fields(how), commands)
			if err != nil {
				return Step{}, err
			}
			s.Commands = append(s.Commands, c)
			continue
		}
		for line := range strings.Lines(part) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "- ") {
				says = append(says, line)
				continue
			}
			sight, err := see(strings.TrimPrefix(line, "- "))
			if err != nil {
				return Step{}, err
			}
			s.Sees = append(s.Sees, sight)
		}
	}
	s.Says = strings.TrimSpace(regexp.MustCompile(`\n{3,}`).ReplaceAllString(strings.Join(says, "\n"), "\n\n"))
	return s, nil
}

// commands are those of one fence, whose first word is sh.
func (d *Document) commands(how []string, text string) (Commands, error) {
	if len(how) == 0 || how[0] != "sh" {
		return Commands{}, fmt.Errorf("what is fenced are commands, and begins with sh")
	}
	c := Commands{Needs: how[1:]}
	if at := slices.Index(c.Needs, "watch"); at >= 0 {
		c.Needs, c.Watch = slices.Delete(c.Needs, at, at+1), true
	}
	for line := range strings.Lines(text) {
		name := regexp.MustCompile(`^# \((.+)\)\n$`).FindStringSubmatch(line)
		if name == nil {
			c.Text += line
			continue
		}
		manifest, err := d.Manifest(name[1])
		if err != nil {
			return Commands{}, err
		}
		// The comments at its beginning say where it is from, and are none of the document's.
		c.Text += regexp.MustCompile(`^(#.*\n)*`).ReplaceAllString(strings.TrimSuffix(string(manifest), "\n"), "") + "\n"
	}
	return c, nil
}
