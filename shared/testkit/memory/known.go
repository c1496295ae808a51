package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/export/known"
)

// Known keeps what exports have learned of endpoints' servers, as store.EndpointState does. The zero value is empty.
type Known struct {
	mu    sync.Mutex
	rows  map[string][]byte
	saved int
}

// Known implements collect.Known.
func (k *Known) Known(_ context.Context, endpointID string) (found known.Server, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if row := k.rows[endpointID]; row != nil {
		if err = json.Unmarshal(row, &found); err != nil {
			return known.Server{}, fmt.Errorf("read row: %w", err)
		}
	}
	return found, nil
}

// SaveKnown implements collect.Known.
func (k *Known) SaveKnown(_ context.Context, endpointID string, server known.Server, _ time.Time) error {
	row, err := json.Marshal(server)
	if err != nil {
		return fmt.Errorf("write row: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = map[string][]byte{}
	}
	k.rows[endpointID] = row
	k.saved++
	return nil
}

// Saved counts the saves.
func (k *Known) Saved() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saved
}
