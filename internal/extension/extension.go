// Package extension answers callers whom the API server names, with no more than they may read.
//
// The API server's proxies to Services and pods do not say who asks. Its
// aggregation layer does: it forwards what is asked of an API group, and
// proves by a certificate that the headers with the caller's name are its own.
// A caller that may list the pods of all namespaces is shown everything; others are
// shown the names of pods in namespaces of which they may list the pods, and
// the rest under made-up names.
package extension

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/scrub"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// The API group that is answered for.
const (
	Group   = "view.tenon.sh"
	Version = "v1"
)

// root is where its answers are.
const root = "/apis/" + Group + "/" + Version

// mostNamespaces is how many namespaces may be named in one question: each costs a review.
const mostNamespaces = 16

// atOnce is how many questions of a kind of callers are answered at a time: many decide about the whole cluster, and for
// callers who may not read everything all pods are renamed before.
const atOnce = 2

// Config is what answers are made of.
type Config struct {
	Client client.Client                // creates SubjectAccessReviews, and reads one ConfigMap
	Next   func() (journal.Entry, bool) // what would be decided of now; false while this process does not decide
	Pages  http.Handler                 // for what only those are shown who may read everything
	Leader func() string                // the replica that decides, as NAMESPACE/NAME, if it is another one; may be nil
	Now    clock.Now
}

// Handler answers for the API group.
func Handler(c Config) http.Handler {
	s := site{Config: c, permissions: &permissions{client: c.Client, now: c.Now}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis", s.discover(groups()))
	mux.HandleFunc("GET /apis/"+Group, s.discover(groups().Groups[0]))
	mux.HandleFunc("GET "+root, s.discover(resources()))
	whole, some := s.routes(true), s.routes(false)
	mux.HandleFunc("GET "+root+"/", func(w http.ResponseWriter, r *http.Request) {
		who, err := s.permissions.caller(r)
		if err != nil {
			refuse(w, err)
			return
		}
		all, err := s.permissions.mayList(r.Context(), who, "")
		switch {
		case err != nil:
			refuse(w, err)
		case all:
			whole.ServeHTTP(w, r)
		default:
			some.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
		}
	})
	return mux
}

// callerKey is where a request keeps who asks, for those who are not shown everything.
type callerKey struct{}

type site struct {
	Config

	permissions *permissions
}

// routes are the questions; whole: for callers who may read everything.
func (s site) routes(whole bool) http.Handler {
	mux, outer := http.NewServeMux(), http.NewServeMux()
	outer.Handle("/", web.Bounded(atOnce, mux))
	answer := func(pattern string, say func(live.Answers, http.ResponseWriter, *http.Request)) {
		mux.HandleFunc("GET "+root+pattern, func(w http.ResponseWriter, r *http.Request) {
			e, ok := s.asked(w, r, whole)
			if !ok {
				return
			}
			say(live.Answers{
				World:   func() *world.World { return e.World },
				Options: func() provision.Options { return e.Options.Provision },
				Decided: func() []journal.Entry { return nil },
			}, w, r)
		})
	}
	answer("/nodes/{name}", live.Answers.Node)
	answer("/pools/{name}", live.Answers.Pool)
	answer("/namespaces/{namespace}/pods/{name}", live.Answers.Pod)
	answer("/answers/labels", live.Answers.Labels)
	answer("/answers/whatif", live.Answers.WhatIf)
	answer("/answers/anew", live.Answers.Anew)
	mux.HandleFunc("GET "+root+"/answers/now", func(w http.ResponseWriter, r *http.Request) {
		if e, ok := s.asked(w, r, whole); ok {
			w.Header().Set("Content-Type", "application/json")
			_ = e.Write(w) // the client may have gone
		}
	})
	pass := func(pattern, to string) {
		outer.HandleFunc("GET "+root+pattern, func(w http.ResponseWriter, r *http.Request) {
			if !whole {
				refuse(w, errPartly)
				return
			}
			inner := r.Clone(r.Context())
			inner.URL.Path, inner.URL.RawPath = to+r.PathValue("name"), ""
			s.Pages.ServeHTTP(w, inner)
		})
	}
	pass("/answers/history", "/v1/history")
	pass("/frames", "/v1/live")
	pass("/decisions/{name}", "/v1/decisions/")
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status(w, http.StatusNotFound, metav1.StatusReasonNotFound, r.URL.Path+" is not answered; "+root+" lists what is")
	})
	return outer
}

// errPartly is said to callers who may not list the pods of all namespaces.
var errPartly = errors.New("this shows the pods of every namespace, and you may not list those: ask about a pod of yours, a node or a pool, or ask for the right to list pods in all namespaces")

// asked is what a question is answered from: what is decided by now, as the caller may read it.
func (s site) asked(w http.ResponseWriter, r *http.Request, whole bool) (journal.Entry, bool) {
	e, ok := s.Next()
	if !ok || e.World == nil {
		web.Leave(w.Header())
		leader := ""
		if s.Leader != nil {
			leader = s.Leader()
		}
		status(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, web.NotLeading(leader))
		return e, false
	}
	if whole {
		return e, true
	}
	who, ok := r.Context().Value(callerKey{}).(caller)
	if !ok {
		refuse(w, errNotProven)
		return e, false
	}
	shown, err := s.shown(r, who)
	if err != nil {
		refuse(w, err)
		return e, false
	}
	names := &scrub.Names{Shown: func(namespace string) bool { return slices.Contains(shown, namespace) }}
	if e.World, err = names.World(e.World); err != nil {
		refuse(w, err)
		return e, false
	}
	return e, true
}

// podsError is said of pods that the caller may not read of.
type podsError struct{ namespace string }

func (e podsError) Error() string {
	return fmt.Sprintf("you may not list the pods of namespace %q, so nothing is shown of them; ask for a Role with list on pods there", e.namespace)
}

// shown are the namespaces of the question of which the caller may list the pods.
func (s site) shown(r *http.Request, who caller) ([]string, error) {
	asked := r.URL.Query()["namespace"]
	if len(asked) > mostNamespaces {
		return nil, fmt.Errorf("%d namespaces are named, and %d may be: %w", len(asked), mostNamespaces, errMany)
	}
	own := strings.HasPrefix(r.URL.Path, root+"/namespaces/")
	if own {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, root+"/namespaces/"), "/")
		asked = append(slices.Clone(asked), name)
	}
	var out []string
	for i, namespace := range asked {
		if namespace == "" {
			continue
		}
		ok, err := s.permissions.mayList(r.Context(), who, namespace)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, namespace)
		} else if own && i == len(asked)-1 {
			return nil, podsError{namespace}
		}
	}
	return out, nil
}

var errMany = errors.New("name fewer")

// refuse says why there is no answer.
func refuse(w http.ResponseWriter, err error) {
	var pods podsError
	switch {
	case errors.Is(err, errNotProven):
		status(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, err.Error())
	case errors.Is(err, errPartly), errors.As(err, &pods):
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, err.Error())
	case errors.Is(err, errMany):
		status(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	default:
		status(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
}

// status answers with a Status, as the API server does.
func status(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	write(w, int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: message,
	})
}

func write(w http.ResponseWriter, code int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(bytes.ToValidUTF8(data, []byte("\ufffd"))) // the client may have gone
}

// discover answers what there is to ask for; to the API server alone.
func (s site) discover(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.permissions.caller(r); err != nil {
			refuse(w, err)
			return
		}
		write(w, http.StatusOK, v)
	}
}

func groups() metav1.APIGroupList {
	version := metav1.GroupVersionForDiscovery{GroupVersion: Group + "/" + Version, Version: Version}
	return metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups: []metav1.APIGroup{{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: Group,
			Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		}},
	}
}

// resources are what there is to ask for, as discovery has it.
func resources() metav1.APIResourceList {
	get := metav1.Verbs{"get"}
	return metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: Group + "/" + Version,
		APIResources: []metav1.APIResource{
			{Name: "answers", SingularName: "answer", Kind: "Answer", Verbs: get},
			{Name: "decisions", SingularName: "decision", Kind: "Decision", Verbs: get},
			{Name: "frames", SingularName: "frame", Kind: "Frame", Verbs: metav1.Verbs{"watch"}},
			{Name: "nodes", SingularName: "node", Kind: "NodeAnswer", Verbs: get},
			{Name: "pods", SingularName: "pod", Kind: "PodAnswer", Namespaced: true, Verbs: get},
			{Name: "pools", SingularName: "pool", Kind: "PoolAnswer", Verbs: get},
		},
	}
}
