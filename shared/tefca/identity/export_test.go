package identity

// Causes returns the causes of failed verifications for tests.
var Causes = causes
