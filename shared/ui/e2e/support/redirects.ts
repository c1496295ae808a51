/** Lets tests intercept the portal's redirects to the service. */
import type { BrowserContext } from "@playwright/test";

/** Makes the portal return through a page instead of a redirect, because tests can't intercept redirected requests. */
export async function withoutRedirects(context: BrowserContext): Promise<void> {
  await context.route("**/sandbox/oauth/**", async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const { location = "" } = response.headers();
    if (!location.includes("/bridge/callback")) return route.fulfill({ response });
    await route.fulfill({
      contentType: "text/html",
      body: `<script>location.replace(${JSON.stringify(location)})</script>`,
    });
  });
}
