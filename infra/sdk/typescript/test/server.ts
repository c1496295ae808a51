import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Recordbridge } from "../src/index.js";

export type Handle = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** Starts a server that ends with the test. The handler gets the number of earlier requests. */
export async function serve(t: TestContext, handle: Handle): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => handle(request, response, count++));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a client that records its pauses instead of waiting. */
export function clientOf(baseUrl: string): { client: Recordbridge; pauses: number[] } {
  const pauses: number[] = [];
  const wait = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    return Promise.resolve();
  };
  return { client: new Recordbridge({ baseUrl, publicId: "public_test_1", privateKey: "key", wait }), pauses };
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Collects the values of an iterator. */
export async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of found) list.push(one);
  return list;
}
