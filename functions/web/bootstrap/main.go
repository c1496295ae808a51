// Command bootstrap runs the web Lambda function.
package main

import (
	"recordbridge/functions/web/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
