// Command generated makes again what is generated and fails when a file comes
// out differently: it was edited by hand, or its source was changed without it.
package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	changed, err := changes()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "generated:", err)
		os.Exit(1)
	case len(changed) > 0:
		fmt.Fprintf(os.Stderr, "generated: these files are not what their sources make: %s\nThey are now: look at them and commit them.\n", strings.Join(changed, " "))
		os.Exit(1)
	}
}

// changes generates and returns the files that differ.
func changes() ([]string, error) {
	before, err := files()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "generate", "./...")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go generate: %w", err)
	}
	after, err := files()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(name string, _ digest) bool { return before[name] == after[name] })
	return slices.Sorted(maps.Keys(all)), nil
}

type digest [sha256.Size]byte

// files are the contents of all files that git keeps or would keep.
func files() (map[string]digest, error) {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	digests := map[string]digest{}
	tree := os.DirFS(".")
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			continue // deleted, or a link that leads nowhere: the same before and after
		}
		digests[name] = sha256.Sum256(src)
	}
	return digests, nil
}
