// Command bootstrap runs the listevents Lambda function.
package main

import (
	"recordbridge/functions/listevents/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
