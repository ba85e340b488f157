package domain

import "testing"

func TestRegister(t *testing.T) {
	tests := map[string]struct {
		why    string
		values []string
		want   []int32
	}{
		"Rising":  {"Values in rising order are numbered one after the other.", []string{"a", "b", "c", "c", "a"}, []int32{0, 1, 2, 2, 0}},
		"Falling": {"So are values in any other order.", []string{"c", "b", "a", "b", "c"}, []int32{0, 1, 2, 1, 0}},
		"Mixed":   {"What comes in order after something that did not is known, too.", []string{"b", "d", "a", "e", "c", "e", "d"}, []int32{0, 1, 2, 3, 4, 3, 1}},
		"Empty":   {"A label may have no text.", []string{"", "a", ""}, []int32{0, 1, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r Register
			for i, v := range tc.values {
				if _, known := r.Find(v); known == (r.Values == nil || int(tc.want[i]) == len(r.Values)) {
					t.Errorf("%s\nbefore value %d, %q, was numbered: known %t", tc.why, i, v, known)
				}
				if got := r.Number(v); got != tc.want[i] {
					t.Errorf("%s\nvalue %d, %q, has number %d, want %d", tc.why, i, v, got, tc.want[i])
				}
				if got, known := r.Find(v); !known || got != tc.want[i] || r.Values[got] != v {
					t.Errorf("%s\nvalue %d, %q, is found as %d, %t, want %d", tc.why, i, v, got, known, tc.want[i])
				}
			}
		})
	}
}
