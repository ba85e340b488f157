package catalog

// Only returns the catalogue with one region. The prices of all others take more memory than
// the types; a process that works in one region has no use for them. An unknown region leaves all.
func (c *Catalog) Only(region string) *Catalog {
	r, err := c.Region(region)
	if err != nil {
		return c
	}
	out := &Catalog{types: c.types, index: c.index, regions: []Region{*r}}
	out.regions[0].catalog = out
	return out
}
