package main

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
)

// unasserted stands for a value that the source has but that changed since.
const unasserted = "?"

// goldenLabels are the labels of the golden table, as column and as label; in
// the table's own order.
func goldenLabels() []string {
	return strings.Fields(`instance-category instance-generation instance-family instance-size instance-capability-flex
		instance-cpu instance-cpu-manufacturer instance-cpu-sustained-clock-speed-mhz instance-memory
		instance-ebs-bandwidth instance-network-bandwidth instance-local-nvme instance-hypervisor
		instance-encryption-in-transit-supported instance-gpu-name instance-gpu-manufacturer instance-gpu-count
		instance-gpu-memory instance-accelerator-name instance-accelerator-manufacturer instance-accelerator-count`)
}

// goldenAmounts are the resources of the golden table.
func goldenAmounts() []string {
	return strings.Fields(`cpu memory ephemeral-storage pods vpc.amazonaws.com/pod-eni vpc.amazonaws.com/efa
		nvidia.com/gpu amd.com/gpu aws.amazon.com/neuron aws.amazon.com/neuroncore`)
}

// golden joins what nodes of each type are expected to leave to pods and to be
// labelled with. EC2 changed some facts after the expectations were computed:
// the trunking of some families, a clock, three bandwidths. Those are not asserted.
func golden(from string) ([]byte, error) {
	labels := map[string][]string{}
	err := readTable(from, "expected-labels.csv", func(r row) {
		typ := r.text("type")
		cells := make([]string, 0, len(goldenLabels())+2)
		for _, l := range goldenLabels() {
			v := r.text("karpenter.k8s.aws/" + l)
			if changed(typ, l) {
				v = unasserted
			}
			cells = append(cells, v)
		}
		labels[typ] = append(cells, r.text("kubernetes.io/arch"), r.text("kubernetes.io/os"))
	})
	if err != nil {
		return nil, err
	}
	var lines [][]string
	err = readTable(from, "expected-allocatable.csv", func(r row) {
		line := []string{r.text("type")}
		for _, a := range goldenAmounts() {
			v := r.text(a)
			if changed(line[0], a) {
				v = unasserted
			}
			line = append(line, v)
		}
		lines = append(lines, slices.Concat(line, labels[line[0]]))
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(lines, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	header := slices.Concat([]string{"type"}, goldenAmounts(), goldenLabels(), []string{"kubernetes.io/arch", "kubernetes.io/os"})
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(append([][]string{header}, lines...)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// changed reports whether EC2's answer for a column is no longer what it was.
func changed(typ, column string) bool {
	family, _, _ := strings.Cut(typ, ".")
	is := func(names string) bool { return slices.Contains(strings.Fields(names), family) }
	switch column {
	case "vpc.amazonaws.com/pod-eni":
		return is("c8gb c8gn c8ib c9g c9gd hpc7g i4i m8gb m8gn m8ib m8idb m8idn m8in r8gb r8gn r8ib r8idb r8idn r8in")
	case "instance-cpu-sustained-clock-speed-mhz":
		return is("c9g c9gd m9g m9gd")
	case "instance-network-bandwidth":
		return slices.Contains([]string{"g7.2xlarge", "g7.4xlarge", "g7.8xlarge"}, typ)
	}
	return false
}
