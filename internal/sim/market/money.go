package market

import "github.com/tenon-sh/tenon/engine/money"

// priceOf reads a price as AWS writes it; text that is no price gives 0.
func priceOf(text string) money.Micro {
	price, _ := money.Parse(text)
	return price
}
