package main

import (
	"encoding/json"

	"github.com/tenon-sh/tenon/internal/web/live"
)

// openAPI describes the HTTP API of the live page.
func openAPI() (string, error) {
	text, err := json.MarshalIndent(live.Description(), "", "  ")
	return string(text) + "\n", err
}
