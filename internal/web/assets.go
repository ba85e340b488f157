package web

import (
	"embed"
	"net/http"
)

// What the live page is made of: scripts and styles from the sources in ui/.
//
//go:generate go tool -modfile=../../tools/pinned/go.mod esbuild app=../../ui/src/main.ts app=../../ui/src/app.css --bundle --minify --format=esm --target=es2022 --charset=utf8 --log-level=warning --outdir=ui
//go:embed ui
var assets embed.FS

// serveAssets serves what browsers ask for beside the pages.
func serveAssets() http.Handler {
	files := http.FileServerFS(assets)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache") // an upgrade of the controller changes them
		w.Header().Set("X-Content-Type-Options", "nosniff")
		files.ServeHTTP(w, r)
	})
}
