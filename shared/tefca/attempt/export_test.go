package attempt

// Causes returns the causes of failed attempts for tests.
var Causes = causes
