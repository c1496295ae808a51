// Command bootstrap runs the usagecounter Lambda function.
package main

import (
	"recordbridge/functions/usagecounter/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
