package sums

import "testing"

func TestCapped(t *testing.T) {
	if Capped(10, 1, -2, 3) != 4 || Capped(2, 1, 2) != 2 {
		t.Error("wrong")
	}
}

func TestWithin(t *testing.T) {
	if !Within(1, 2, false) || !Within(1, 1, true) || Within(1, 2, true) {
		t.Error("wrong")
	}
}
