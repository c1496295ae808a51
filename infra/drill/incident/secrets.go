package incident

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"recordbridge/infra/drill/scene"
)

// keyedPath is the path of an endpoint that requires a private key.
const keyedPath = "/bridge/events"

// leakedKey stages the use of an organisation's leaked private key by somebody else.
func leakedKey(ctx context.Context, s *scene.Scene) (Staged, error) {
	leaked := s.Org.PrivateKey
	key, err := keyOf(ctx, s)
	if err != nil {
		return Staged{}, err
	}
	s.Set("PUBLIC_ID", s.Org.PublicID)
	s.Set("KEY", key)
	if status, body, err := s.Call(ctx, http.MethodGet, keyedPath, leaked); err != nil || status != http.StatusOK {
		return Staged{}, fmt.Errorf("the key does not work: %d %s %w", status, body, err)
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return s.Line("msg=http.request", "route="+keyedPath, "org_id="+s.Org.ID)
		},
		Mended: func(ctx context.Context) error {
			status, _, err := s.Call(ctx, http.MethodGet, keyedPath, leaked)
			if err != nil || status != http.StatusUnauthorized {
				return fmt.Errorf("the leaked key gets status %d: %w", status, err)
			}
			fresh := printedKey.FindStringSubmatch(s.Printed)
			if fresh == nil {
				return errors.New("the commands printed no new key")
			}
			if status, _, err := s.Call(ctx, http.MethodGet, keyedPath, fresh[1]); err != nil || status != http.StatusOK {
				return fmt.Errorf("the new key gets status %d: %w", status, err)
			}
			return nil
		},
	}, nil
}

// printedKey matches the new private key in ctl's output.
var printedKey = regexp.MustCompile(`"private_key": "([^"]+)"`)

// keyOf returns the ID of the only private key of the organisation's credential.
func keyOf(ctx context.Context, s *scene.Scene) (string, error) {
	text, err := s.Ctl(ctx, "", "credential", "show", "-public-id", s.Org.PublicID)
	if err != nil {
		return "", err
	}
	var shown struct{ Keys []struct{ ID string } }
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&shown); err != nil || len(shown.Keys) != 1 {
		return "", fmt.Errorf("credential show: %d keys, %w", len(shown.Keys), err)
	}
	return shown.Keys[0].ID, nil
}
