// Command bootstrap runs the deleteexportfiles Lambda function.
package main

import (
	"recordbridge/functions/deleteexportfiles/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
