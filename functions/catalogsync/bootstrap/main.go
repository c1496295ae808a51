// Command bootstrap runs the catalogsync Lambda function.
package main

import (
	"time"

	"recordbridge/functions/catalogsync/wiring"
	"recordbridge/shared/wiring/outbound"
)

// within is the time limit for an HTTP exchange. It allows for the download of the largest list on a slow day.
const within = 8 * time.Minute

func main() { outbound.RunWithin(within, wiring.Build) }
