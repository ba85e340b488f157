package market

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"time"
)

// digest stands for the parameters of a request.
type digest [sha256.Size]byte

// checkToken refuses a request under a token that was used for another one. The market is locked.
func (m *Market) checkToken(kind, token string, request any) error {
	if seen, ok := m.tokens[kind+"/"+token]; token != "" && ok && seen != digestOf(request) {
		return Errorf(IdempotentParameterMismatch, "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
	}
	return nil
}

// keepToken remembers what a token was used for.
func (m *Market) keepToken(kind, token string, request any) {
	if token != "" {
		m.tokens[kind+"/"+token] = digestOf(request)
	}
}

func digestOf(request any) digest {
	text, err := json.Marshal(request)
	if err != nil {
		panic("market: a request that JSON cannot write: " + err.Error())
	}
	return sha256.Sum256(text)
}

// forgetTokens drops fleets older than EC2 promises to remember, when there are many.
func (m *Market) forgetTokens() {
	const many, kept = 20_000, 48 * time.Hour
	if len(m.fleets) <= many {
		return
	}
	maps.DeleteFunc(m.fleets, func(token string, f fleetRecord) bool {
		old := m.at.Sub(f.at) > kept
		if old {
			delete(m.tokens, "fleet/"+token)
		}
		return old
	})
}
