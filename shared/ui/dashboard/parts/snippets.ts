/**
 * Sample code, as plain text, with the customer's own IDs. The sample code reads the private key from the environment
 * and never contains the key.
 */
import { snippet } from "../../demo/snippet.ts";

export interface Given {
  base: string; // base URL of the public API, including the version
  publicId: string;
}

export const PAGE = ["HTML", "React"] as const;
export const ASK = ["curl", "Node", "Python", "Go"] as const;
export const RECEIVE = ["Node", "Python", "Go"] as const;

/** Returns an HTML page with the button that patients use to connect. */
export function page(dialect: (typeof PAGE)[number], { base, publicId }: Given): string {
  const attributes = new Map([
    ["public-id", publicId],
    ["external-id", "your-patient-id"],
  ]);
  return snippet(dialect, {
    tag: "svc-widget-element",
    attributes,
    style: new Map(),
    label: "",
    script: `${base}/sdk/4/svc-widget.js`,
  });
}

/** Returns code that requests a connection's record. The record arrives at a webhook. */
export function ask(dialect: (typeof ASK)[number], { base, publicId }: Given): string {
  const url = `${base}/bridge/fhir/ehi-export`;
  switch (dialect) {
    case "curl":
      return `curl ${url} \\
  --user "${publicId}:$PRIVATE_KEY" \\
  --json '{"org_connection_id": "'"$CONNECTION"'"}'
`;
    case "Node":
      return `const credentials = Buffer.from(\`${publicId}:\${process.env.PRIVATE_KEY}\`).toString("base64");
const response = await fetch("${url}", {
  method: "POST",
  headers: { Authorization: \`Basic \${credentials}\`, "Content-Type": "application/json" },
  body: JSON.stringify({ org_connection_id: process.env.CONNECTION }),
});
console.log(response.status, await response.json());
`;
    case "Python":
      return `import base64, json, os, urllib.request

credentials = base64.b64encode(f"${publicId}:{os.environ['PRIVATE_KEY']}".encode()).decode()
request = urllib.request.Request(
    "${url}",
    json.dumps({"org_connection_id": os.environ["CONNECTION"]}).encode(),
    {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())
`;
    case "Go":
      return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(fmt.Sprintf(\`{"org_connection_id": %q}\`, os.Getenv("CONNECTION")))
	request, err := http.NewRequest("POST", "${url}", body)
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("${publicId}", os.Getenv("PRIVATE_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(text), err)
}
`;
  }
}

/** Returns code that verifies a webhook according to the Standard Webhooks specification (standardwebhooks.com). */
export function receive(dialect: (typeof RECEIVE)[number]): string {
  switch (dialect) {
    case "Node":
      return `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the raw request body, before any parsing
export function verifyWebhook(headers, body, secret) {
  const id = headers["webhook-id"], timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const want = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const got = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return one.startsWith("v1,") && got.length === want.length && timingSafeEqual(got, want);
  });
}
`;
    case "Python":
      return `import base64, hashlib, hmac, time

# body: the raw request body, before any parsing
def verify_webhook(headers, body: bytes, secret: str) -> bool:
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    want = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    want = "v1," + base64.b64encode(want).decode()
    return any(hmac.compare_digest(one, want) for one in headers["webhook-signature"].split())
`;
    case "Go":
      return `package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// VerifyWebhook reports whether the signature of a webhook is valid. VerifyWebhook needs the raw body, before any
// parsing.
func VerifyWebhook(h http.Header, body []byte, secret string) bool {
	id, timestamp := h.Get("webhook-id"), h.Get("webhook-timestamp")
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Fields(h.Get("webhook-signature")) {
		if hmac.Equal([]byte(one), []byte(want)) {
			return true
		}
	}
	return false
}
`;
  }
}

/** Returns a server's environment file. */
export function env(base: string, publicId: string, privateKey: string): string {
  return `RECORDBRIDGE_BASE_URL=${base}\nRECORDBRIDGE_PUBLIC_ID=${publicId}\nRECORDBRIDGE_PRIVATE_KEY=${privateKey}\n`;
}

/**
 * Returns a delivery attempt as a curl command. The attempt's signature has the original time, so a receiver must
 * reject the request after five minutes.
 */
export function curl(url: string, headers: Record<string, string>, body: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = Object.entries(headers)
    .filter(([name]) => !["content-length", "host", "accept-encoding", "connection"].includes(name.toLowerCase()))
    .map(([name, value]) => `  --header ${quoted(`${name}: ${value}`)}`);
  return [`curl ${quoted(url)}`, ...lines, `  --data-raw ${quoted(body)}`].join(" \\\n");
}
