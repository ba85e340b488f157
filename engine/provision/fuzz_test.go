package provision_test

import (
	"encoding/json"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// A World that was kept is read or refused with words; what is read is written
// the same, and is decided about without an accident.
func FuzzWorld(f *testing.F) {
	f.Add([]byte(`{"format":"tenon-world/v1","at":1}`))
	for _, lines := range [][]string{
		{"pool general", "type t0 cpu=4 memory=8Gi price=0.1 zones=a,b", "pod p0 cpu=500m memory=1Gi zone=a", "pod p1 cpu=3 memory=1Gi port=80"},
		{"pool general", "type t0 cpu=4 memory=8Gi price=0.1 zones=a,b", "node n type=t0 zone=a", "pod p0 cpu=500m memory=1Gi node=n", "pod p1 cpu=3 memory=1Gi"},
	} {
		s := enginetest.NewScene()
		for _, line := range lines {
			if err := s.Line(line); err != nil {
				f.Fatal(err)
			}
		}
		data, err := json.Marshal(s.World())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := world.Read(data)
		if err != nil {
			if err.Error() == "" {
				t.Error("refused without a word")
			}
			return
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatalf("read and not to be written: %v", err)
		}
		again, err := world.Read(text)
		if err != nil || again.Digest() != w.Digest() {
			t.Fatalf("written and read again it is another: %v\n%s", err, text)
		}
		if p := provision.Decide(w, provision.Options{Steps: 1000}); p.String() != provision.Decide(again, provision.Options{Steps: 1000}).String() {
			t.Errorf("two plans for one World:\n%s", p)
		}
	})
}
