// Command bootstrap runs the downloadexport Lambda function.
package main

import (
	"recordbridge/functions/downloadexport/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
