/**
 * Serves customers' pages. A browser treats each host below localhost as a separate site. The service's site
 * (127.0.0.1) differs from all these sites, so the widget is third-party, as on a customer's page.
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HostPage {
  /** The page's host is <site>.localhost, or localhost itself, the only host that an organisation may register without https. */
  site?: string;
  path?: string;
  body?: string;
  /** The page's complete HTML. */
  html?: string;
  head?: string;
  lang?: string;
  headers?: Record<string, string>;
}

export class Host {
  readonly #server: Server;
  readonly #pages = new Map<string, HostPage>();

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  origin(site = "clinic"): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${site === "localhost" ? site : `${site}.localhost`}:${port}`;
  }

  /** Publishes a page and returns the page's URL. */
  publish(page: HostPage): string {
    const { site = "clinic", path = "/" } = page;
    const address = this.origin(site) + path;
    this.#pages.set(address, page);
    return address;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [path] = (request.url ?? "/").split("?");
    const page = this.#pages.get(`http://${request.headers.host ?? ""}${path ?? ""}`);
    if (page === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      ...page.headers,
    });
    response.end(
      page.html ??
        `<!doctype html>
<html lang="${page.lang ?? "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Alder Clinic</title>
<link rel="icon" href="data:,">${page.head ?? ""}</head><body>${page.body ?? ""}</body></html>`,
    );
  }
}
