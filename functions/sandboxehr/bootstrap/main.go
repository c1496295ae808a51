// Command bootstrap runs the sandboxehr Lambda function.
package main

import (
	"recordbridge/functions/sandboxehr/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
