/** Server SDK of Recordbridge. Use it only in a backend, because it holds the private key. */
export { Recordbridge } from "./client.js";
export type { Options, Connection, Event, ExportFile, ExportRequest, ExportResult, Task } from "./client.js";
export { FileMismatch, InvalidManifest, RecordbridgeError } from "./errors.js";
export type { DownloadOptions, File, Progress, Resource } from "./download.js";
export { verifyManifest } from "./manifest.js";
export type { Manifest, ManifestFile } from "./manifest.js";
export { verifyWebhook } from "./webhooks.js";
