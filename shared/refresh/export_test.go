package refresh

// EndpointName is how the package names a token endpoint to EndpointState.
func EndpointName(url string) string { return endpointName(url) }
