// Command bootstrap runs the eraser Lambda function.
package main

import (
	"recordbridge/functions/eraser/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
