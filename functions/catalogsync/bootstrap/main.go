// Command bootstrap runs the catalogsync Lambda function.
package main

import (
	"time"

	"recordbridge/functions/catalogsync/wiring"
	"recordbridge/shared/wiring/outbound"
)

// within limits the duration of an HTTP exchange. The limit is long enough for a slow download of the largest list.
const within = 8 * time.Minute

func main() { outbound.RunWithin(within, wiring.Build) }
