package verb

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknown is the annotation that holds the flags of a verb that were passed over.
const unknown = "tenon.sh/unknown-flags"

// PassOver has Run pass over flags that a verb does not know, instead of refusing
// them: a verb that is started by manifests written for other programs or releases
// says what it does not know and does the rest. PassedOver names those flags.
func PassOver(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[unknown] = ""
}

// PassedOver are the flags that were given to a verb and that it does not know.
func PassedOver(cmd *cobra.Command) []string { return strings.Fields(cmd.Annotations[unknown]) }

// passOver returns args without the flags that their verb is to pass over.
func passOver(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return args
	}
	if _, ok := cmd.Annotations[unknown]; !ok {
		return args
	}
	kept, passed := split(cmd.Flags(), rest)
	cmd.Annotations[unknown] = strings.Join(passed, " ")
	path := strings.Fields(cmd.CommandPath())[1:]
	return append(path, kept...)
}

// split tells apart what flags know and what they do not. A flag with one dash is
// read as Go's own flags are, as if it had two. A word after an unknown flag is its value.
func split(flags *pflag.FlagSet, args []string) (kept, passed []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(kept, args[i:]...), passed
		}
		word := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		name, _, hasValue := strings.Cut(word, "=")
		if word == arg || name == "" || name == "help" || name == "h" || (len(name) == 1 && flags.ShorthandLookup(name) != nil) {
			kept = append(kept, arg)
			continue
		}
		flag := flags.Lookup(name)
		if flag == nil {
			passed = append(passed, "--"+name)
			if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
			}
			continue
		}
		kept = append(kept, "--"+word)
		if !hasValue && flag.NoOptDefVal == "" && i+1 < len(args) {
			i++
			kept = append(kept, args[i])
		}
	}
	return kept, passed
}
