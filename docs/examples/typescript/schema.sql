CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, session TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body TEXT);
CREATE TABLE IF NOT EXISTS connections (id TEXT PRIMARY KEY, user TEXT, state TEXT, task TEXT);
CREATE TABLE IF NOT EXISTS resources (
  id TEXT, type TEXT, connection TEXT, task TEXT, json TEXT, PRIMARY KEY (connection, task, type, id)
);
