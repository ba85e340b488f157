package aws

import "maps"

// wrote notes how long the user data of a class is.
func (d *Driver) wrote(class string, bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.written == nil {
		d.written = map[string]int{}
	}
	d.written[class] = bytes
}

// UserData is how many bytes of user data machines of each class got last.
func (d *Driver) UserData() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.written)
}
