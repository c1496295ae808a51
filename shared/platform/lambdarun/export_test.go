package lambdarun

// NewLogger is the constructor of the logger that Run passes to functions.
var NewLogger = newLogger
