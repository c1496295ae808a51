// Command bootstrap runs the getexport Lambda function.
package main

import (
	"recordbridge/functions/getexport/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
