// Package convert is the verb that writes older objects as NodePools and EC2NodeClasses of v1: those of files, or those that a cluster stores.
package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Command returns the verb.
func Command() *cobra.Command {
	var files []string
	var in Input
	var stored inCluster
	cmd := &cobra.Command{
		Use:   "convert -f FILE|- | --cluster",
		Short: "Write older objects as NodePools and EC2NodeClasses of v1",
		Long: `Convert reads Provisioners and AWSNodeTemplates, or NodePools and EC2NodeClasses
of v1beta1, and writes the NodePools and EC2NodeClasses of v1 that mean the
same, as YAML. It changes nothing in a cluster, but with --cluster.

What the old kinds left unsaid and filled in themselves is written out. What has
no like in the new kinds is said on standard error, as comments that name the
field. When an object could not be converted at all, the exit status is 1, and
what could be is still written.

Give all of them at once: settings of the kubelet move from the Provisioner to
the class, so a template becomes as many classes as its Provisioners need.

With --cluster it rewrites the NodePools, NodeClaims and EC2NodeClasses that a
cluster stores as v1beta1, as Karpenter v0.32 to v0.37 did, and then puts this
release's definitions of the kinds in place. Every object stays the one it is:
uid, labels, annotations, finalizers, owners and status are kept, and no node is
touched. The controller must be scaled to 0. What was there is written to the
file of --backup before anything is changed. Objects that cannot be converted
are named, all of them, and then none is changed. If it is interrupted, the same
command goes on. With --dry-run it says what it would do.

With --cluster --restore it puts back what such a backup has, as carefully: the
definitions as they were, and every object that is still there in v1beta1, with
the spec that it had. What a controller wrote since stays, and so do the nodes
that came since: their NodeClaims are written as v1beta1. Objects that were
changed or made since by people are named, and then nothing is changed.`,
		Example: `  tenon convert -f provisioners.yaml --instance-profile KarpenterNodeInstanceProfile-prod
  kubectl get provisioners,awsnodetemplates -o yaml | tenon convert -f - --role KarpenterNodeRole-prod > pools.yaml
  kubectl get nodepools.v1beta1.karpenter.sh,ec2nodeclasses.v1beta1.karpenter.k8s.aws -o yaml | tenon convert -f - > pools.yaml
  tenon convert --cluster --dry-run
  tenon convert --cluster --backup before-v1.yaml
  tenon convert --cluster --restore before-v1.yaml --dry-run`,
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := stored.misused(cmd.Flags(), files); err != nil {
				return err
			}
			if stored.asked {
				return stored.convert(cmd.Context(), cmd.Flags(), cmd.OutOrStdout())
			}
			return convertFiles(cmd, files, in)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "file or folder of objects, or - for standard input; may be given several times")
	cmd.Flags().StringVar(&in.Profile, "instance-profile", "", "instance profile of templates that name none: what the setting aws.defaultInstanceProfile says")
	cmd.Flags().StringVar(&in.Role, "role", "", "role of nodes whose template names no instance profile")
	stored.flags(cmd.Flags())
	return cmd
}

// convertFiles writes what the objects of files become, and on standard error what is to be said of them.
func convertFiles(cmd *cobra.Command, files []string, in Input) error {
	if in.Profile != "" && in.Role != "" {
		return verb.BadInputf("nodes have --instance-profile or --role, not both")
	}
	out := cmd.ErrOrStderr()
	docs, err := snapshot.Documents(files, cmd.InOrStdin())
	if err != nil {
		return verb.BadInput(err)
	}
	for _, d := range docs {
		if err := add(d.JSON, &in, out); err != nil {
			return verb.BadInput(fmt.Errorf("%s: %w", d.Where, err))
		}
	}
	converted := Convert(in)
	for _, n := range converted.Notes {
		fmt.Fprintf(out, "# %s\n", n)
	}
	if err := emit(cmd.OutOrStdout(), converted); err != nil {
		return err
	}
	return converted.Problem()
}

// add adds the object, or those of the list, that a document holds.
func add(doc []byte, in *Input, notes io.Writer) error {
	var head struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Items            []json.RawMessage
	}
	var err error
	if bytes.HasPrefix(doc, []byte("[")) {
		head.Kind = "List"
		err = json.Unmarshal(doc, &head.Items)
	} else {
		err = json.Unmarshal(doc, &head)
	}
	if err != nil {
		return err
	}
	switch {
	case bytes.Equal(doc, []byte("null")):
		return nil
	case head.Kind == "Provisioner" && head.APIVersion == v1alpha5.GroupVersion.String():
		var p v1alpha5.Provisioner
		err := strict(doc, &p)
		in.Provisioners = append(in.Provisioners, p)
		return err
	case head.Kind == "AWSNodeTemplate" && head.APIVersion == awsv1alpha1.GroupVersion.String():
		var t awsv1alpha1.AWSNodeTemplate
		err := strict(doc, &t)
		in.Templates = append(in.Templates, t)
		return err
	case head.Kind == "NodePool" && head.APIVersion == v1.Group+"/"+beta:
		var p BetaPool
		err := strict(doc, &p)
		in.BetaPools = append(in.BetaPools, p)
		return err
	case head.Kind == "EC2NodeClass" && head.APIVersion == awsv1.Group+"/"+beta:
		var c awsv1.EC2NodeClass
		err := strict(withoutStatus(doc), &c)
		in.BetaClasses = append(in.BetaClasses, c)
		return err
	case strings.HasSuffix(head.Kind, "List"):
		for i, item := range head.Items {
			if err := add(item, in, notes); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return nil
	case head.Kind == "":
		return errors.New("kind is missing: every document needs apiVersion and kind")
	}
	fmt.Fprintf(notes, "# %s/%s of %s is not of a kind that is converted, and is left out\n", head.Kind, head.Metadata.Name, head.APIVersion)
	return nil
}

// withoutStatus leaves out what the controller wrote.
func withoutStatus(doc []byte) []byte {
	var o map[string]json.RawMessage
	if json.Unmarshal(doc, &o) != nil {
		return doc
	}
	delete(o, "status")
	text, err := json.Marshal(o)
	if err != nil {
		return doc
	}
	return text
}

// strict refuses fields that the kind does not have: a setting that is not
// understood would be lost without a word.
func strict(doc []byte, into any) error {
	if err := yaml.UnmarshalStrict(doc, into); err != nil {
		return errors.New(strings.NewReplacer("error unmarshaling JSON: while decoding JSON: ", "", "json: ", "").Replace(err.Error()))
	}
	return nil
}

// emit writes classes before the pools that name them.
func emit(w io.Writer, out Output) error {
	var all []any
	for i := range out.Classes {
		all = append(all, &out.Classes[i])
	}
	for i := range out.Pools {
		all = append(all, &out.Pools[i])
	}
	for _, o := range all {
		plain, err := write(o)
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(plain)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}
