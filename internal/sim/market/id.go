package market

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// id makes the next id of a kind, as "i-0" and sixteen hexadecimal digits. The market is locked.
func (m *Market) id(kind string) string {
	m.serial[kind]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s/%d", m.cfg.Seed, m.cfg.Region, kind, m.serial[kind]))
	return kind + "-0" + hex.EncodeToString(sum[:8])
}

// uuid makes an id of the form that tokens and events have. The market is locked.
func (m *Market) uuid(kind string) string {
	m.serial[kind]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s/%d", m.cfg.Seed, m.cfg.Region, kind, m.serial[kind]))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// UUID returns a fresh id of the form 8-4-4-4-12, for requests and messages.
func (m *Market) UUID(kind string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.uuid(kind)
}

// chance returns a number in [0, 1) that the string decides.
func chance(s string) float64 {
	sum := sha256.Sum256([]byte(s))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// spread returns a number of about mean 0 and deviation 1 that the string decides.
func spread(s string) float64 {
	return 2 * (chance(s+"#0") + chance(s+"#1") + chance(s+"#2") - 1.5)
}
