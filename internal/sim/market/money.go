package market

import (
	"fmt"
	"strconv"
	"strings"
)

// Dollars writes micro-dollars as AWS writes prices: "0.096000".
func Dollars(micro int64) string {
	return fmt.Sprintf("%d.%06d", micro/1_000_000, micro%1_000_000)
}

// Micro reads a price as AWS writes it; text that is no price gives 0.
func Micro(text string) int64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || f <= 0 {
		return 0
	}
	return int64(f*1_000_000 + 0.5)
}
