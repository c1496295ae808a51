// Command ctl is the operator's command line: organisations, credentials, webhooks, institutions and
// our registrations there. Where the stack is, AWS's own variables say (AWS_ENDPOINT_URL, AWS_REGION, AWS_PROFILE); its tables and keys come from its
// outputs:
//
//	aws cloudformation describe-stacks --stack-name recordbridge --query 'Stacks[0].Outputs' > outputs.json
//	go run ./infra/ctl -outputs outputs.json organisation create -name "Alder Clinic App"
//
// The file that make run writes will do, too: -outputs .local/run.json.
//
// It prints JSON. Private keys and webhook secrets are printed once, when they are made.
package main
