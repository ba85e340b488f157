package playground

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// An api is what other processes can ask of a playground, over HTTP on the loopback interface and with the token that
// only the owner of the directory can read.
type api struct {
	token   string
	fleet   *kubelet.Fleet
	cloud   *cloud
	tenon   tenon // nil without one
	catalog *catalog.Catalog
	region  string
	stop    context.CancelFunc
}

// serve answers until the returned function is called.
func (a *api) serve() (url string, close func(), err error) {
	a.token = rand.Text()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: a.guard(a.routes()), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		_ = s.Serve(l)
	}()
	return "http://" + l.Addr().String(), func() {
		// The caller that asked us to stop still gets the answer.
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		<-done
	}, nil
}

func (a *api) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+a.token)) != 1 {
			answer(w, http.StatusUnauthorized, problem{"the token in contact.json is needed"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		next.ServeHTTP(w, r)
	})
}

type problem struct {
	Error string `json:"error"`
}

// killed says what a crash was made of.
type killed struct {
	Killed string `json:"killed"`
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, struct{}{})
		a.stop()
	})
	mux.HandleFunc("GET /machines", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, a.fleet.Machines())
	})
	mux.HandleFunc("POST /machines", a.add)
	mux.HandleFunc("POST /controller/kill", func(w http.ResponseWriter, r *http.Request) {
		if a.tenon == nil {
			answer(w, http.StatusConflict, problem{"the playground is bare: it runs no controller"})
		} else if what, err := a.tenon.kill(r.Context()); err != nil {
			answer(w, http.StatusConflict, problem{err.Error()})
		} else {
			answer(w, http.StatusOK, killed{what})
		}
	})
	for verb, do := range map[string]func(context.Context, string) error{
		"kill":         func(ctx context.Context, id string) error { return a.cloud.kill(ctx, a.fleet, id) },
		"lose-network": a.fleet.LoseNetwork,
		"recover":      a.fleet.Recover,
	} {
		mux.HandleFunc("POST /machines/{name}/"+verb, func(w http.ResponseWriter, r *http.Request) {
			id, ok := a.fleet.Find(r.PathValue("name"))
			if !ok {
				answer(w, http.StatusNotFound, problem{fmt.Sprintf("no machine or node %q; `tenon sim machines` lists them", r.PathValue("name"))})
				return
			}
			if err := do(r.Context(), id); err != nil {
				answer(w, http.StatusConflict, problem{err.Error()})
				return
			}
			answer(w, http.StatusOK, struct{}{})
		})
	}
	return mux
}

func (a *api) add(w http.ResponseWriter, r *http.Request) {
	var wish MachineRequest
	if err := json.NewDecoder(r.Body).Decode(&wish); err != nil {
		answer(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	ms, err := machines(a.catalog, a.region, wish)
	if err == nil && len(ms) > 0 && !wish.Faults.NeverRegisters && !wish.Faults.NeverBoots {
		_, err = kubelet.Parse(ms[0].UserData) // say it now rather than in the log of each machine
	}
	if err != nil {
		answer(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	out := []kubelet.Status{}
	for _, m := range ms {
		if err := a.fleet.Boot(m); err != nil {
			answer(w, http.StatusInternalServerError, problem{err.Error()})
			return
		}
		out = append(out, kubelet.Status{ID: m.ID, Node: m.NodeName, InstanceType: m.InstanceType, Zone: m.Zone, State: kubelet.Booting})
	}
	answer(w, http.StatusCreated, out)
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the other side may be gone
}
