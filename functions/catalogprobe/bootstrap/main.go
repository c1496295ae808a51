// Command bootstrap runs the catalogprobe Lambda function.
package main

import (
	"recordbridge/functions/catalogprobe/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
