package sums

import "testing"

func TestCapped(t *testing.T) {
	if Capped(10, 1, -2, 3) != 4 || Capped(2, 1, 2) != 2 {
		t.Error("wrong")
	}
}
