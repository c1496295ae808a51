// Command bootstrap runs the jwks Lambda function.
package main

import (
	"recordbridge/functions/jwks/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
