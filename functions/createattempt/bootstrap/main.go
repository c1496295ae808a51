// Command bootstrap runs the createattempt Lambda function.
package main

import (
	"recordbridge/functions/createattempt/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
