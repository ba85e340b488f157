package catalog

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
)

// The file is a line of magic and a DEFLATE stream of columns: for each field of
// Type its values for all types in a row, then for each region its zones, its
// offerings and its prices. Numbers are varints; text is an index into the
// column's own dictionary, which comes first. What lies side by side is alike,
// so that it compresses to a few per cent of a table of rows.
const magic = "tenon-catalog 1\n"

// maxRaw bounds what is unpacked, so that a damaged file cannot ask for all memory.
const maxRaw = 64 << 20

// Sheet is one region as its maker hands it over.
type Sheet struct {
	Name, Currency string
	Zones          []Zone
	Assumed        bool
	Offers         map[string]Offer // by type
}

// Offer is what one region sells of one type.
type Offer struct {
	Zones    []string
	OnDemand Price
	Spot     map[string]Price // by zone
}

// fields lists where each column's values live in one type, in the order of the
// file. The same list is written from and read into.
func (t *Type) fields() []any {
	return []any{
		&t.Name, &t.Family, &t.Size, &t.Category, &t.Generation, &t.Current,
		&t.Arch, &t.Archs,
		&t.VCPUs, &t.Cores, &t.ThreadsPerCore, &t.CPUManufacturer, &t.ClockMHz, &t.MemoryMiB,
		&t.Hypervisor, &t.BareMetal, &t.Burstable, &t.NitroEnclaves,
		&t.UsageClasses, &t.Virtualization, &t.BootModes, &t.RootDevices, &t.Placement,
		&t.NetworkText, &t.NetworkMbps, &t.BaselineMbps, &t.PeakMbps, &t.EncryptsInTransit, &t.ENA,
		&t.DefaultCard, &t.ENIs, &t.DefaultCardENIs, &t.IPv4PerENI, &t.IPv6, &t.IPv6PerENI,
		&t.EFAs, &t.Trunk, &t.BranchENIs,
		&t.EBSOptimized, &t.EBSMbps, &t.EBSBaselineMbps, &t.EBSNVMe, &t.EBSAttachMax,
		&t.NVMeGB, &t.DiskGB, &t.Disks, &t.DiskSizeGB, &t.DiskType, &t.DiskNVMe,
	}
}

func (c *Card) fields() []any { return []any{&c.ENIs, &c.BaselineMbps, &c.PeakMbps, &c.Text} }

func (a *Accelerator) fields() []any {
	return []any{(*string)(&a.Kind), &a.Name, &a.Manufacturer, &a.Count, &a.Logical, &a.Cores, &a.MemoryMiB}
}

// Encode writes types and regions in the form that Decode reads. The order in
// which they are given does not matter.
func Encode(types []Type, sheets []Sheet) ([]byte, error) {
	types = slices.SortedFunc(slices.Values(types), func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	sheets = slices.SortedFunc(slices.Values(sheets), func(a, b Sheet) int { return strings.Compare(a.Name, b.Name) })
	var w writer
	w.types(types)
	w.number(int64(len(sheets)))
	for _, s := range sheets {
		if len(s.Zones) > 64 {
			return nil, fmt.Errorf("region %s has %d zones; the form holds 64", s.Name, len(s.Zones))
		}
		w.region(types, s)
	}
	out := bytes.NewBufferString(magic)
	z, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(w.buf); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decode reads what Encode wrote.
func Decode(file []byte) (*Catalog, error) {
	packed, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("not a catalogue of this version: it does not begin with %q", strings.TrimSpace(magic))
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxRaw))
	if err != nil {
		return nil, fmt.Errorf("damaged catalogue: %w", err)
	}
	r := reader{buf: raw}
	c := &Catalog{types: r.types()}
	c.index = make(map[string]int, len(c.types))
	for i := range c.types {
		c.index[c.types[i].Name] = i
	}
	c.regions = make([]Region, r.count())
	for i := range c.regions {
		c.regions[i] = r.region(c)
	}
	if r.bad || len(r.buf) > 0 {
		return nil, errors.New("damaged catalogue: it ends too early or too late")
	}
	return c, nil
}

// writer appends to a buffer.
type writer struct{ buf []byte }

func (w *writer) number(n int64) { w.buf = binary.AppendVarint(w.buf, n) }

func (w *writer) text(s string) {
	w.number(int64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *writer) types(types []Type) {
	var cards, devices [][]any
	rows := make([][]any, len(types))
	for i := range types {
		rows[i] = types[i].fields()
	}
	w.table(rows)
	for i := range types {
		t := &types[i]
		w.number(int64(len(t.Cards)))
		w.number(int64(len(t.Accelerators)))
		for j := range t.Cards {
			cards = append(cards, t.Cards[j].fields())
		}
		for j := range t.Accelerators {
			devices = append(devices, t.Accelerators[j].fields())
		}
	}
	w.table(cards)
	w.table(devices)
}

// table writes rows column by column.
func (w *writer) table(rows [][]any) {
	w.number(int64(len(rows)))
	if len(rows) == 0 {
		return
	}
	for col := range rows[0] {
		switch rows[0][col].(type) {
		case *string:
			w.texts(rows, func(row []any) string { return *row[col].(*string) })
		case *[]string:
			w.texts(rows, func(row []any) string { return strings.Join(*row[col].(*[]string), "|") })
		default:
			for _, row := range rows {
				w.number(numeric(row[col]))
			}
		}
	}
}

func numeric(field any) int64 {
	switch f := field.(type) {
	case *int:
		return int64(*f)
	case *int64:
		return *f
	case *bool:
		if *f {
			return 1
		}
	}
	return 0
}

// texts writes a dictionary in order of first use, then an index for each row.
func (w *writer) texts(rows [][]any, of func([]any) string) {
	ids := map[string]int64{}
	var dictionary []string
	for _, row := range rows {
		s := of(row)
		if _, ok := ids[s]; !ok {
			ids[s] = int64(len(dictionary))
			dictionary = append(dictionary, s)
		}
	}
	w.number(int64(len(dictionary)))
	for _, s := range dictionary {
		w.text(s)
	}
	for _, row := range rows {
		w.number(ids[of(row)])
	}
}

func (w *writer) region(types []Type, s Sheet) {
	w.text(s.Name)
	w.text(s.Currency)
	w.number(numeric(&s.Assumed))
	w.number(int64(len(s.Zones)))
	for _, z := range s.Zones {
		w.text(z.Name)
		w.text(z.ID)
	}
	for i := range types {
		var zones uint64
		for z := range s.Zones {
			if slices.Contains(s.Offers[types[i].Name].Zones, s.Zones[z].Name) {
				zones |= 1 << z
			}
		}
		w.number(int64(zones))
	}
	for i := range types {
		w.number(onDemandCode(s.Offers[types[i].Name].OnDemand))
	}
	for z := range s.Zones {
		for i := range types {
			o := s.Offers[types[i].Name]
			w.number(spotCode(o.OnDemand, o.Spot[s.Zones[z].Name]))
		}
	}
}

// How a spot price is written, in the lowest two bits: not at all, as thousandths
// of the on-demand price, or as it is. Made-up prices are the first, real ones the last.
const (
	none = iota
	share
	real
	madeUp
)

func onDemandCode(p Price) int64 { return int64(p.Micro)<<1 | numeric(&p.Synthetic) }

func spotCode(onDemand, p Price) int64 {
	switch {
	case p.Micro == 0:
		return none
	case !p.Synthetic:
		return int64(p.Micro)<<2 | real
	}
	if onDemand.Micro > 0 {
		if f := int64((p.Micro*1000 + onDemand.Micro/2) / onDemand.Micro); ShareOf(onDemand.Micro, f) == p.Micro {
			return f<<2 | share
		}
	}
	return int64(p.Micro)<<2 | madeUp
}

// ShareOf returns so many thousandths of a price, rounded.
func ShareOf(price money.Micro, thousandths int64) money.Micro {
	return (price*money.Micro(thousandths) + 500) / 1000
}

func spotPrice(onDemand Price, code int64) Price {
	switch code & 3 {
	case share:
		return Price{ShareOf(onDemand.Micro, code>>2), true}
	case real:
		return Price{money.Micro(code >> 2), false}
	case madeUp:
		return Price{money.Micro(code >> 2), true}
	}
	return Price{}
}

// reader takes from a buffer; what is missing reads as zero and leaves it bad.
type reader struct {
	buf []byte
	bad bool
}

func (r *reader) number() int64 {
	n, size := binary.Varint(r.buf)
	if size <= 0 {
		r.bad, r.buf = true, nil
		return 0
	}
	r.buf = r.buf[size:]
	return n
}

// count reads how many things follow: no more than there are bytes left, as
// each takes at least one.
func (r *reader) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.buf)) {
		r.bad, r.buf = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	if n > len(r.buf) {
		r.bad, r.buf = true, nil
		return ""
	}
	s := string(r.buf[:n])
	r.buf = r.buf[n:]
	return s
}

func (r *reader) types() []Type {
	types := make([]Type, r.count())
	rows := make([][]any, len(types))
	for i := range types {
		rows[i] = types[i].fields()
	}
	r.columns(rows)
	var cards, devices int
	for i := range types {
		nc, nd := r.count(), r.count()
		if r.bad {
			return nil
		}
		types[i].Cards = make([]Card, nc)
		if nd > 0 {
			types[i].Accelerators = make([]Accelerator, nd)
		}
		cards, devices = cards+nc, devices+nd
	}
	cardRows, deviceRows := make([][]any, 0, cards), make([][]any, 0, devices)
	for i := range types {
		for j := range types[i].Cards {
			cardRows = append(cardRows, types[i].Cards[j].fields())
		}
		for j := range types[i].Accelerators {
			deviceRows = append(deviceRows, types[i].Accelerators[j].fields())
		}
	}
	for _, rows := range [][][]any{cardRows, deviceRows} {
		if r.count() != len(rows) {
			r.bad = true
			return nil
		}
		r.columns(rows)
	}
	return types
}

// columns reads into the fields of rows, column by column.
func (r *reader) columns(rows [][]any) {
	if len(rows) == 0 {
		return
	}
	for col := range rows[0] {
		switch rows[0][col].(type) {
		case *string:
			r.texts(rows, func(row []any, s string, _ []string) { *row[col].(*string) = s })
		case *[]string:
			r.texts(rows, func(row []any, _ string, parts []string) { *row[col].(*[]string) = parts })
		default:
			for _, row := range rows {
				setNumeric(row[col], r.number())
			}
		}
	}
}

func setNumeric(field any, n int64) {
	switch f := field.(type) {
	case *int:
		*f = int(n)
	case *int64:
		*f = n
	case *bool:
		*f = n != 0
	}
}

func (r *reader) texts(rows [][]any, set func(row []any, s string, parts []string)) {
	dictionary := make([]string, r.count())
	lists := make([][]string, len(dictionary))
	for i := range dictionary {
		dictionary[i] = r.text()
		if dictionary[i] != "" {
			lists[i] = strings.Split(dictionary[i], "|")
		}
	}
	for _, row := range rows {
		i := r.number()
		if i < 0 || i >= int64(len(dictionary)) {
			r.bad = true
			return
		}
		set(row, dictionary[i], lists[i])
	}
}

func (r *reader) region(c *Catalog) Region {
	out := Region{Name: r.text(), Currency: r.text(), Assumed: r.number() != 0, catalog: c}
	out.Zones = make([]Zone, min(r.count(), 64))
	for i := range out.Zones {
		out.Zones[i] = Zone{Name: r.text(), ID: r.text()}
	}
	n := len(c.types)
	out.offered, out.onDemand, out.spot = make([]uint64, n), make([]Price, n), make([]Price, n*len(out.Zones))
	for i := range n {
		out.offered[i] = uint64(r.number())
	}
	for i := range n {
		code := r.number()
		out.onDemand[i] = Price{money.Micro(code >> 1), code&1 != 0}
	}
	for z := range out.Zones {
		for i := range n {
			out.spot[i*len(out.Zones)+z] = spotPrice(out.onDemand[i], r.number())
		}
	}
	return out
}
