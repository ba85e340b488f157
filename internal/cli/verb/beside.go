package verb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// Playground is a verb of the program tenon-playground, which stands beside
// this one and takes its place. It is a program of its own so that no
// simulator is in the production binary. Flags and help are its own, too.
func Playground(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              short,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			if self, err = filepath.EvalSymlinks(self); err != nil {
				return err
			}
			program := filepath.Join(filepath.Dir(self), "tenon-playground")
			if _, err := os.Stat(program); err != nil {
				return fmt.Errorf("%w; the playground is a program beside this one, which images do not hold: in a clone, `make build` makes both", err)
			}
			err = syscall.Exec(program, slices.Concat([]string{program, name}, args), os.Environ())
			return fmt.Errorf("run %s: %w", program, err)
		},
	}
}
