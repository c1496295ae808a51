// Command deploy builds and deploys the stack of an environment (make deploy ENV=dev|staging|prod), by the parameters
// that samconfig.toml has for it, and says what came of it and what comes next. AWS_ENDPOINT_URL leads it to
// LocalStack, as it does the programs that it starts.
//
// Before a deployment, it puts the widget's files into the stack's bucket, from which both versions answer while one
// takes the other's place (docs/adr/0035-the-widget.md); after the first one, which makes the bucket.
//
// It refuses to deploy to production what is not committed, and protects staging and production from deletion.
package main
