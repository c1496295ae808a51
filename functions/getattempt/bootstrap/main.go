// Command bootstrap runs the getattempt Lambda function.
package main

import (
	"recordbridge/functions/getattempt/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
