package live_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

func TestAnswers(t *testing.T) {
	w := enginetest.Steady(3, 5)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})})
	now := func() *world.World { return w }
	h := web.Handler(web.Config{Decisions: j, World: now, History: live.NewHistory(now, panics.Teller{})})
	tests := map[string]struct {
		path  string
		code  int
		holds string
	}{
		"Node":          {"/v1/nodes/node-00001", 200, `"format":"tenon-explain/v1"`},
		"NodeSlip":      {"/v1/nodes/node-0001", 404, "did you mean node-00000?"},
		"NoNode":        {"/v1/nodes/else", 404, "there is no node else"},
		"Pod":           {"/v1/pods/default/new-00001", 200, `"text":"`},
		"PodSlip":       {"/v1/pods/default/new-0001", 404, "did you mean default/new-00000?"},
		"Pool":          {"/v1/pools/general", 200, `"text":"`},
		"PoolSlip":      {"/v1/pools/genral", 404, "did you mean general?"},
		"WhatIf":        {"/v1/whatif?without=node/node-00001", 200, `"difference":`},
		"WhatIfNothing": {"/v1/whatif", 400, "say what is to be supposed"},
		"WhatIfUnread":  {"/v1/whatif?scale=web", 400, "scale web: want deployment/NAMESPACE/NAME=N"},
		"WhatIfUnknown": {"/v1/whatif?without=node/else", 400, "else"},
		"Anew":          {"/v1/anew", 200, `"format":"tenon-plan/v1"`},
		"Decision":      {"/v1/decisions/" + url.PathEscape(w.Digest()), 200, `"whole":true`},
		"NoDecision":    {"/v1/decisions/x", 404, "no such decision"},
		"History":       {"/v1/history", 200, `"samples":[]`},
		"Script":        {"/ui/app.js", 200, "EventSource"},
		"Style":         {"/ui/app.css", 200, ".map"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, nil))
			if answer.Code != tc.code || !strings.Contains(answer.Body.String(), tc.holds) {
				t.Errorf("%d, want %d with %q:\n%.600s", answer.Code, tc.code, tc.holds, answer.Body)
			}
		})
	}
}
