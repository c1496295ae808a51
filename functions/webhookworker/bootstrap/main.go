// Command bootstrap is the webhookworker Lambda function.
package main

import (
	"recordbridge/functions/webhookworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
