package types

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// print writes a table for people. CPU and memory are what is left for pods.
func (l list) print(w io.Writer, all, wide bool) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	header := []string{"TYPE", "ARCH", "VCPU", "MEMORY", "POD CPU", "POD MEMORY", "PODS", "DEVICES", "ON-DEMAND", "SPOT", "ZONES"}
	if wide {
		header = append(header, "NETWORK", "LOCAL DISK", "POD ENI", "EFA", "SPOT BY ZONE")
	}
	fmt.Fprintln(t, strings.Join(header, "\t"))
	shown, hidden, synthetic := 0, 0, false
	for _, it := range l.items {
		if !all && (it.unfit != "" || len(it.shape.Offers) == 0) {
			hidden++
			continue
		}
		shown++
		cells := it.cells(l.region)
		if wide {
			cells = append(cells, it.wideCells(l.region)...)
		}
		row := strings.Join(cells, "\t")
		synthetic = synthetic || strings.Contains(row, "~")
		fmt.Fprintln(t, row)
	}
	if shown == 0 {
		fmt.Fprintf(w, "No type that can be had in %s matches.\n", l.region)
	} else if err := t.Flush(); err != nil {
		return err
	}
	return l.notes(w, shown, hidden, synthetic)
}

func (l list) notes(w io.Writer, shown, hidden int, synthetic bool) error {
	if shown > 0 {
		fmt.Fprintf(w, "\n%s of %s; prices in %s an hour, spot in its cheapest zone.\n", amount.Count(shown, "type"), l.region, l.currency)
	}
	if synthetic {
		fmt.Fprintln(w, "~ made up from other prices, not observed.")
	}
	if hidden > 0 {
		fmt.Fprintf(w, "%s cannot be had in %s; shown with --all.\n", amount.Count(hidden, "matching type"), l.region)
	}
	return nil
}

func (it item) cells(region string) []string {
	left := it.shape.Allocatable()
	zones := zoneLetters(it.shape, region)
	switch {
	case it.unfit != "":
		zones = "(" + it.unfit + ")"
	case zones == "":
		zones = "(not sold here)"
	}
	return []string{
		it.Name, it.Arch, strconv.Itoa(it.VCPUs), amount.Text(amount.Memory, it.MemoryMiB<<20*amount.Unit),
		amount.Text(amount.CPU, left.Value(amount.CPU)), amount.Text(amount.Memory, left.Value(amount.Memory)),
		amount.Text(amount.Pods, left.Value(amount.Pods)), devices(it.Type),
		priceText(best(it.shape, label.OnDemand)), priceText(best(it.shape, label.Spot)), zones,
	}
}

func (it item) wideCells(region string) []string {
	disk := "-"
	if it.DiskGB > 0 {
		disk = fmt.Sprintf("%dx%d GB %s", it.Disks, it.DiskSizeGB, it.DiskType)
	}
	var spots []string
	for _, o := range it.shape.Offers {
		if o.CapacityType == label.Spot {
			spots = append(spots, strings.TrimPrefix(o.Zone, region)+" "+priceText(&o))
		}
	}
	return []string{it.NetworkText, disk, orDash(it.BranchENIs), orDash(it.EFAs), strings.Join(spots, ", ")}
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// devices names accelerators: "8 A100". A fraction of a GPU is "<1 L4".
func devices(t *catalog.Type) string {
	var parts []string
	_, isNeuron := t.Accelerator(catalog.Neuron)
	for _, a := range t.Accelerators {
		count := strconv.Itoa(a.Count)
		switch {
		case a.Kind == catalog.Inference && isNeuron:
			continue // the same devices by their older name
		case a.Count == 0:
			count = "<1"
		}
		parts = append(parts, count+" "+a.Name)
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func zoneLetters(s world.Shape, region string) string {
	var out []string
	for _, o := range s.Offers {
		z := strings.TrimPrefix(o.Zone, region)
		if len(out) == 0 || out[len(out)-1] != z {
			out = append(out, z)
		}
	}
	return strings.Join(out, ",")
}

// best is the cheapest offer of a kind.
func best(s world.Shape, capacityType string) *world.Offer {
	var low *world.Offer
	for i, o := range s.Offers {
		if o.CapacityType == capacityType && (low == nil || o.Price < low.Price) {
			low = &s.Offers[i]
		}
	}
	return low
}

func priceText(o *world.Offer) string {
	if o == nil {
		return "-"
	}
	s := strconv.FormatFloat(o.Price.Units(), 'f', 4, 64)
	if o.Synthetic {
		return "~" + s
	}
	return s
}
