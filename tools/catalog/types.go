package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/catalog"
)

// readTypes reads the types that the source describes in full; it has names
// of others, retired or announced, without processor and memory.
func readTypes(from string) ([]catalog.Type, error) {
	cards := map[string][]catalog.Card{}
	if err := readTable(from, "network-cards.csv", func(r row) {
		name := r.text("type")
		cards[name] = append(cards[name], catalog.Card{
			ENIs:         r.number("max_enis"),
			BaselineMbps: int(r.scaled("baseline_gbps", 1000)),
			PeakMbps:     int(r.scaled("peak_gbps", 1000)),
			Text:         r.text("performance"),
		})
	}); err != nil {
		return nil, err
	}
	var types []catalog.Type
	err := readTable(from, "instance-types.csv", func(r row) {
		if !r.flag("in_moto") {
			return
		}
		t := readType(r)
		t.Cards = cards[t.Name]
		if len(t.Cards) == 0 {
			t.Cards = []catalog.Card{{ENIs: t.DefaultCardENIs, BaselineMbps: t.BaselineMbps, PeakMbps: t.PeakMbps, Text: t.NetworkText}}
		}
		types = append(types, t)
	})
	return types, err
}

func readType(r row) catalog.Type {
	t := catalog.Type{
		Name: r.text("type"), Family: r.text("family"), Size: r.text("size"),
		Category: r.text("category"), Generation: r.number("generation"), Current: r.flag("current_gen"),
		Arch: r.text("arch"), Archs: r.list("arch_ec2"),
		VCPUs: r.number("vcpu"), Cores: r.number("cores"), ThreadsPerCore: r.number("threads_per_core"),
		CPUManufacturer: r.text("cpu_manufacturer"), ClockMHz: int(r.scaled("clock_ghz", 1000)), MemoryMiB: r.scaled("memory_mib", 1),
		Hypervisor: r.text("hypervisor"), BareMetal: r.flag("bare_metal"), Burstable: r.flag("burstable"), NitroEnclaves: r.flag("nitro_enclaves"),
		UsageClasses: r.list("usage_classes"), Virtualization: r.list("virt_types"), BootModes: r.list("boot_modes"),
		RootDevices: r.list("root_devices"), Placement: r.list("placement_strategies"),
		NetworkText: r.text("net_perf"), NetworkMbps: r.number("net_mbps"),
		BaselineMbps: int(r.scaled("net_baseline_gbps", 1000)), PeakMbps: int(r.scaled("net_peak_gbps", 1000)),
		EncryptsInTransit: r.flag("enc_in_transit"), ENA: r.text("ena"),
		DefaultCard: r.number("default_card"), ENIs: r.number("max_enis_total"), DefaultCardENIs: r.number("max_enis_default_card"),
		IPv4PerENI: r.number("ipv4_per_eni"), IPv6: r.flag("ipv6"), IPv6PerENI: r.number("ipv6_per_eni"),
		EFAs: r.number("efa_max"), Trunk: r.flag("trunk"), BranchENIs: r.number("branch_enis"),
		EBSOptimized: r.text("ebs_optimized"), EBSMbps: r.number("ebs_max_mbps"), EBSBaselineMbps: r.number("ebs_baseline_mbps"),
		EBSNVMe: r.text("ebs_nvme"), EBSAttachMax: r.number("ebs_max_attach"),
		NVMeGB: r.scaled("nvme_gb", 1), DiskGB: r.scaled("disk_gb", 1), Disks: r.number("disk_count"),
		DiskSizeGB: r.scaled("disk_size_gb", 1), DiskType: r.text("disk_type"), DiskNVMe: r.text("disk_nvme"),
	}
	t.Accelerators = readAccelerators(r)
	return t
}

func readAccelerators(r row) []catalog.Accelerator {
	var out []catalog.Accelerator
	if name := r.text("gpu_name"); name != "" {
		out = append(out, catalog.Accelerator{
			Kind: catalog.GPU, Name: name, Manufacturer: r.text("gpu_mfr"),
			Count: r.number("gpu_count"), Logical: r.number("gpu_logical_count"), MemoryMiB: r.scaled("gpu_mem_mib", 1),
		})
	}
	if name := r.text("neuron_name"); name != "" {
		out = append(out, catalog.Accelerator{
			Kind: catalog.Neuron, Name: name, Manufacturer: "AWS",
			Count: r.number("neuron_count"), Cores: r.number("neuron_cores"), MemoryMiB: r.scaled("neuron_mem_mib", 1),
		})
	}
	if name := r.text("inf_name"); name != "" {
		maker := "AWS"
		if first, _, named := strings.Cut(name, " "); named {
			maker = first
		}
		out = append(out, catalog.Accelerator{Kind: catalog.Inference, Name: name, Manufacturer: maker, Count: r.number("inf_count")})
	}
	for _, c := range []struct {
		column string
		kind   catalog.Kind
		maker  string
	}{{"fpga", catalog.FPGA, "Xilinx"}, {"media", catalog.Media, "Xilinx"}} {
		if name, count, ok := counted(r.text(c.column)); ok {
			out = append(out, catalog.Accelerator{Kind: c.kind, Name: name, Manufacturer: c.maker, Count: count})
		}
	}
	return out
}

var times = regexp.MustCompile(`^(.*)x(\d+)$`)

// counted splits "U30x8" into its name and number.
func counted(s string) (name string, n int, ok bool) {
	m := times.FindStringSubmatch(s)
	if m == nil {
		return "", 0, false
	}
	n, err := strconv.Atoi(m[2])
	return m[1], n, err == nil
}
