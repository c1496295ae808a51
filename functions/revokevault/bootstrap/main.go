// Command bootstrap runs the revokevault Lambda function.
package main

import (
	"recordbridge/functions/revokevault/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
