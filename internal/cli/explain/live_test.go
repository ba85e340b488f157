package explain_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/explain"
)

// Where the controller of a cluster does not answer, it is said what is not known for that.
func TestWhatIsNotKnownIsNoted(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/services") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
	}))
	defer api.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, api.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := explain.Command()
	var said, noted bytes.Buffer
	cmd.SetOut(&said)
	cmd.SetErr(&noted)
	cmd.SetArgs([]string{"pods", "--kubeconfig", config})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if said.String() != "No pod is waiting.\n" || !strings.Contains(noted.String(), "not the controller's") || !strings.Contains(noted.String(), "could not be asked") {
		t.Errorf("it answers %q and notes %q", said.String(), noted.String())
	}
}
