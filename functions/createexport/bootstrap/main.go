// Command bootstrap runs the createexport Lambda function.
package main

import (
	"recordbridge/functions/createexport/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
