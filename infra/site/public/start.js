/* Runs before the first paint: finds the site's base path, adds the icon, and applies the reader's choice of dark mode. */
(() => {
  globalThis.siteBase = new URL(".", document.currentScript.src).pathname;
  // A relative URL in the page would change its meaning when the reader opens another page.
  const icon = document.createElement("link");
  icon.rel = "icon";
  icon.href = `${globalThis.siteBase}icon.svg`;
  document.head.append(icon);
  let chosen = null;
  try {
    chosen = localStorage.getItem("vitepress-theme-appearance");
  } catch {
    // storage is blocked
  }
  const { classList } = document.documentElement;
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  classList.toggle("dark", isDark);
  classList.toggle("mac", /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
})();
