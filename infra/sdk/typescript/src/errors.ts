/** A failed request: the API's error code, description and request ID. `code` is empty if the API didn't respond. */
export class RecordbridgeError extends Error {
  override readonly name = "RecordbridgeError";

  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly requestId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A downloaded file differs from the exported one. Discard the data, and download the file again. */
export class FileMismatch extends Error {
  override readonly name = "FileMismatch";
}

/** An export's manifest is missing, isn't signed by the service, or belongs to another export. */
export class InvalidManifest extends Error {
  override readonly name = "InvalidManifest";
}
