// Command bootstrap runs the refreshworker Lambda function.
package main

import (
	"recordbridge/functions/refreshworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
